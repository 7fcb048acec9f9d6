"""Replay: recorded runs, played through the real core under a policy, to see what it would have done."""
