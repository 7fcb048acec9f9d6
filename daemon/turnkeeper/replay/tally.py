"""Totals over runs, in constant memory.

Law: a table here has a bound: agents beyond it are ``others``, longer prompts are counted as the longest.
"""

from collections import Counter

from turnkeeper.replay.player import Played, Size, Verdicts
from turnkeeper.replay.source import Bad

AGENTS_MAX = 30
TURNS_MAX = 200
BAD_KEPT = 20
OTHERS = "others"


class Sum:
    """A ``Size`` that grows."""

    def __init__(self) -> None:
        self.turns = self.function_calls = self.tokens = 0

    def add(self, size: Size) -> None:
        """Add one."""
        self.turns += size.turns
        self.function_calls += size.function_calls
        self.tokens += size.tokens

    def told(self) -> dict[str, int]:
        """Return it as JSON."""
        return {"turns": self.turns, "function_calls": self.function_calls, "tokens": self.tokens}


class Judged:
    """What one file of policies made of all runs."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.stopped = 0
        self.succeeded_stopped = 0
        self.failed_stopped = 0
        self.warned = 0
        self.forced_answers = 0
        self.saved = Sum()
        self.verdicts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.agents: Counter[str] = Counter()
        self.at_turn: Counter[tuple[int, str]] = Counter()  # (turn, reason)

    def add(self, verdicts: Verdicts, agent: str, *, success: bool | None) -> None:
        """Count one run."""
        self.warned += verdicts.warnings > 0
        self.forced_answers += verdicts.forced_answers
        stop = verdicts.stop
        if stop is None:
            return
        self.stopped += 1
        self.succeeded_stopped += success is True
        self.failed_stopped += success is False
        self.saved.add(stop.saved)
        self.verdicts[stop.verdict] += 1
        self.reasons[stop.reason] += 1
        self.agents[agent] += 1
        self.at_turn[min(stop.turn, TURNS_MAX), stop.reason] += 1

    def told(self) -> dict[str, object]:
        """Return it as JSON."""
        turns: Counter[int] = Counter()
        for (turn, _), count in self.at_turn.items():
            turns[turn] += count
        return {
            "file": self.file,
            "stopped": self.stopped,
            "succeeded_stopped": self.succeeded_stopped,
            "failed_stopped": self.failed_stopped,
            "warned": self.warned,
            "forced_answers": self.forced_answers,
            "saved": self.saved.told(),
            "by_verdict": dict(self.verdicts.most_common()),
            "by_reason": dict(self.reasons.most_common()),
            "by_agent": dict(self.agents.most_common()),
            "by_turn": {str(turn): turns[turn] for turn in sorted(turns)},
        }


class Tally:
    """All that is told of all runs."""

    def __init__(self, files: tuple[str, ...], rows_max: int) -> None:
        self.judged = tuple(Judged(file) for file in files)
        self.runs = self.succeeded = self.failed = self.prompts = 0
        self.size = Sum()
        self.lengths: Counter[int] = Counter()
        self.agents: Counter[str] = Counter()
        self.bad_total = 0
        self.bad: list[Bad] = []
        self.stopped: list[Played] = []
        self._rows_max = rows_max

    def add(self, played: Played) -> None:
        """Count one run."""
        self.runs += 1
        self.succeeded += played.success is True
        self.failed += played.success is False
        self.prompts += len(played.lengths)
        self.size.add(played.size)
        self.lengths.update(min(length, TURNS_MAX) for length in played.lengths)
        name = played.agent or played.model or "unnamed"
        agent = name if name in self.agents or len(self.agents) < AGENTS_MAX else OTHERS
        self.agents[agent] += 1
        for judged, verdicts in zip(self.judged, played.verdicts, strict=True):
            judged.add(verdicts, agent, success=played.success)
        if len(self.stopped) < self._rows_max and any(verdicts.stop for verdicts in played.verdicts):
            self.stopped.append(played)

    def refuse(self, bad: Bad) -> None:
        """Count one line that could not be read."""
        self.bad_total += 1
        if len(self.bad) < BAD_KEPT:
            self.bad.append(bad)

    def told(self) -> dict[str, object]:
        """Return it as JSON."""
        return {
            "runs": self.runs,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "prompts": self.prompts,
            "size": self.size.told(),
            "turns_per_prompt": {str(length): self.lengths[length] for length in sorted(self.lengths)},
            "agents": dict(self.agents.most_common()),
            "not_understood": self.bad_total,
            "policies": [judged.told() for judged in self.judged],
        }
