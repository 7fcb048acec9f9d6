"""The benchmark runs; what it measures is not judged here."""

import json
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parent / "bench.py"


def test_a_smoke_run_prints_every_figure(tmp_path: Path) -> None:
    command = [sys.executable, str(RUN), "--smoke", "--out", str(tmp_path / "bench.jsonl")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in (tmp_path / "bench.jsonl").read_text().splitlines()]
    assert {"step, 1 call a turn", "echo, tcp", "decision, tcp", "decision, socket"} <= {
        line["figure"] for line in lines
    }
