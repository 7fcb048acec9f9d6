"""``python -m turnkeeper`` is the same as ``turnkeeper``."""

from turnkeeper.cli import main

main()
