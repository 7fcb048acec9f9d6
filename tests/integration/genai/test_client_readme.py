"""The example in the client's README runs and prints what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

from daemon_process import Daemon

README = Path(__file__).resolve().parents[3] / "clients" / "python" / "README.md"


def test_the_example_prints_what_the_readme_says(daemon: Daemon) -> None:
    text = README.read_text()
    example = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert example is not None
    env = {**os.environ, "TURNKEEPER_ADDRESS": daemon.address_unix, "TURNKEEPER_DEADLINE_MS": "5000"}
    done = subprocess.run(
        (sys.executable, "-c", example[1]), capture_output=True, text=True, timeout=60, env=env, check=True
    )
    assert done.stdout == example[2]
