"""The simulator lies beside the tests, the reference models where SDKs are measured."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "differential")]
