"""The typed words are those of the contract."""

import runpy
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[3] / "clients" / "python"


def test_words_are_as_generated_from_the_contract() -> None:
    generator = runpy.run_path(str(CLIENT / "generate_words.py"))
    assert (CLIENT / "turnkeeper_client" / "_gen" / "words.py").read_text() == generator["words"]()
