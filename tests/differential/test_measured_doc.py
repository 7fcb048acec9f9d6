"""The page of measured limits is what was measured."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from document import DOCUMENT, written


def test_the_page_is_what_was_measured() -> None:
    assert DOCUMENT.read_text("utf-8") == written(), "run tests/differential/document.py"
