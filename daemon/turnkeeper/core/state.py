"""Counters and bounded history of one request id.

Law: the daemon counts, not the transcript. Counters only rise, but for the roll-back of a replaced attempt.

A ``State`` is a value: ``engine`` copies it, changes the copy while it builds the step, and never touches it
again. What it holds is immutable, so a copy is shallow. A ``ModelCall`` is one attempt of one model call: what
was answered before it, what was counted after it, and the answers given for its chunks, kept for the newest
``MODEL_CALLS_KEPT`` so that a repeat is answered and not counted.
"""

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import NamedTuple

from turnkeeper.core import bounds
from turnkeeper.core.events import Call, Caller, Result, Usage
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Disposition, Mode, Outcome, Reason, Verdict


class Lap(NamedTuple):
    """How often a pattern was passed through. ``key`` names it, ``start`` is the model call it began at."""

    key: bytes
    start: int
    period: int
    laps: int


class Finding(NamedTuple):
    """What one rule found. The most severe is the verdict; among equals precedence decides."""

    verdict: Verdict
    reason: Reason
    message: str
    model_hint: str = ""
    disposition: Disposition = Disposition.RAISE
    remove_tools: bool = False
    lap: Lap | None = None

    @property
    def is_warning(self) -> bool:
        """Whether a pattern is told and not acted on: it rides on an ALLOW and is not its reason."""
        return self.lap is not None and self.verdict is Verdict.ALLOW


class ChunkAnswer(NamedTuple):
    """The stored answer for one chunk, a digest of the content it was given for, and how many calls that had.

    The answer is kept without its verdicts on calls: a repeat brings the calls again, and all have one verdict.
    """

    chunk: int
    content: bytes
    answer: AfterAnswer
    calls: int


class ModelCall(NamedTuple):
    """One attempt of one model call."""

    number: int
    attempt: int = 0
    ordinal: int = 0  # among MAIN model calls; 0 for SIDE
    side: bool = False
    mode_asked: int = Mode.UNSPECIFIED
    mode_answered: int = Mode.UNSPECIFIED
    enabled_tools: tuple[str, ...] | None = None
    allowed_names: tuple[str, ...] = ()
    before: BeforeAnswer | None = None
    forced: Finding | None = None  # why our answer was NONE, or REJECT
    pending: Finding | None = None  # taken over from the response before; a retry of this call inherits it
    graced: bool = False  # one of the forced model calls that a budget leaves
    told: bool = False  # a response, or results that imply one
    text: bool = False
    turn: int = 0  # the turn that this response is; 0: none yet
    counted: tuple[Call, ...] = ()  # function calls counted, for ids and roll-back
    uncounted_ids: int = 0  # function calls counted beyond CALLS_KEPT
    chunks: tuple[ChunkAnswer, ...] = ()
    forgotten: int = -1  # the highest chunk whose answer is not kept any more
    usage: Usage = Usage()
    held: Finding | None = None  # the worst finding so far: it holds for the whole response
    rejected_told: int = 0  # rejected function calls told as facts

    @property
    def function_calls(self) -> int:
        """Function calls counted in this response."""
        return len(self.counted) + self.uncounted_ids

    def knows(self, call_id: str) -> bool:
        """Whether a function call of this id was counted. A blank id is no identity."""
        return bool(call_id) and any(call.id == call_id for call in self.counted)

    def keep(self, answered: ChunkAnswer) -> "ModelCall":
        """Store an answer, and forget the lowest chunk over the bound."""
        chunks = (*self.chunks, answered)
        if len(chunks) > 1 and chunks[-2].chunk > answered.chunk:
            chunks = tuple(sorted(chunks, key=lambda kept: kept.chunk))
        forgotten = self.forgotten
        if len(chunks) > bounds.CHUNKS_KEPT:
            forgotten, chunks = chunks[0].chunk, chunks[1:]
        return self._replace(chunks=chunks, forgotten=forgotten)


class Turn(NamedTuple):
    """One response with calls, and what the application answered. ``blocked``: we did not let it run."""

    number: int
    calls: tuple[Call, ...]
    results: tuple[Result, ...] = ()
    blocked: bool = False
    prints: frozenset[bytes] = frozenset()
    symbol: frozenset[tuple[bytes, bytes]] = frozenset()

    @classmethod
    def of(cls, number: int, calls: tuple[Call, ...], results: tuple[Result, ...], *, blocked: bool = False) -> "Turn":
        """Make a turn with its symbol: the pairs of a call's fingerprint and its result's digest, empty if untold."""
        prints = frozenset([call.fingerprint for call in calls])
        if not results:
            return cls(number, calls, results, blocked, prints, frozenset([(one, b"") for one in prints]))
        digests = {result.call_id: result.digest for result in results}
        symbol = frozenset([(call.fingerprint, digests.get(call.id, b"")) for call in calls])
        return cls(number, calls, results, blocked, prints, symbol)


@dataclass(slots=True)
class State:
    """All that is known of one request id. Times are nanoseconds since the epoch."""

    policy: str
    started_ns: int
    caller: Caller = Caller()
    traceparent: str = ""
    seen_ns: int = 0
    turns: int = 0
    model_calls: int = 0
    function_calls: int = 0
    tokens: int = 0
    cost_micro_usd: int = 0
    first: int = 0  # the model call number told first
    latest: int = 0  # the highest model call number told
    tools: dict[str, int] = field(default_factory=dict)  # function calls by tool; replaced, never changed in place
    calls: tuple[ModelCall, ...] = ()  # by number, the newest last
    history: tuple[Turn, ...] = ()  # the newest last
    tools_seen: tuple[str, ...] = ()  # enabled when last told
    pending: Finding | None = None  # the next MAIN model call is NONE
    pending_from: int = 0  # the model call whose response said so
    laps: tuple[Lap, ...] = ()  # patterns told, the newest last
    grace_used: int = 0  # model calls forced by a budget
    links: tuple[tuple[str, str], ...] = ()  # (traceparent, span id) of non-ALLOW decisions
    final: str = ""  # how the newest answered model call looks, see ``after``
    last_verdict: Verdict = Verdict.UNSPECIFIED
    last_reason: Reason = Reason.UNSPECIFIED
    ended: Outcome | None = None

    @classmethod
    def begin(cls, policy: str, now_ns: int, caller: Caller = Caller(), traceparent: str = "") -> "State":
        """Return the state of a request id that was never told of."""
        return cls(policy, now_ns, caller, traceparent, seen_ns=now_ns)

    def copy(self) -> "State":
        """Return an equal state whose changes do not show in this one."""
        return State(*_values(self))

    # --- model calls ------------------------------------------------------------------------------------------

    def find(self, number: int) -> ModelCall | None:
        """Return the kept record of a model call."""
        for call in reversed(self.calls):
            if call.number == number:
                return call
        return None

    def is_superseded(self, number: int, attempt: int) -> bool:
        """Whether an event is of a replaced attempt, or older than all that is kept."""
        call = self.find(number)
        if call is not None:
            return attempt < call.attempt
        return len(self.calls) == bounds.MODEL_CALLS_KEPT and number < self.calls[0].number

    def put(self, call: ModelCall) -> None:
        """Keep a record, in order of number, and forget the oldest over the bound."""
        newest = self.calls[-1] if self.calls else None
        if newest is None or call.number > newest.number:
            self.calls = (*self.calls[1 - bounds.MODEL_CALLS_KEPT :], call)
        else:
            others = [kept for kept in self.calls if kept.number != call.number]
            ordered = sorted([*others, call], key=lambda kept: kept.number)
            self.calls = tuple(ordered[-bounds.MODEL_CALLS_KEPT :])
        self.latest = max(self.latest, call.number)

    def take_up(self, number: int) -> None:
        """Begin at model call ``number``: those before it were made, whoever counted them."""
        self.first = number
        self.model_calls = number - 1

    def count_model_call(self, number: int, *, side: bool) -> int:
        """Count a model call told for the first time; return its ordinal among MAIN ones, 0 for SIDE."""
        if number < self.first:  # one of those that ``take_up`` counted
            return 0 if side else number
        if side:
            if number == self.first > 1:
                self.model_calls = number
            return 0
        self.model_calls = min(self.model_calls + 1, bounds.COUNT_MAX)
        return self.model_calls

    # --- turns and function calls -----------------------------------------------------------------------------

    def raise_turns(self, seen: int, number: int, own: int) -> None:
        """Take the transcript's count as a floor. ``own``: the turn of this very response, not yet seen there.

        The cap keeps a transform that removed prompts from counting across prompts: before model call ``number``
        at most ``number - 1`` responses were made.
        """
        floor = min(seen, number - 1) if number else seen
        self.turns = min(max(self.turns, floor + own), bounds.COUNT_MAX)

    def count_calls(self, record: ModelCall, calls: tuple[Call, ...], named: frozenset[str]) -> ModelCall:
        """Count the calls of a response that were not counted yet; the first makes it a turn.

        ``named`` are tools with a limit of their own, counted by name whatever else is.
        """
        fresh: list[Call] = []
        for call in calls:
            if not record.knows(call.id) and not (call.id and any(call.id == other.id for other in fresh)):
                fresh.append(call)
        if not fresh:
            return record
        if not record.turn:
            self.turns = min(self.turns + 1, bounds.COUNT_MAX)
            record = record._replace(turn=self.turns)
        self.function_calls = min(self.function_calls + len(fresh), bounds.COUNT_MAX)
        self._count_tools(fresh, named)
        kept = (*record.counted, *fresh)[: bounds.CALLS_KEPT]
        over = len(record.counted) + len(fresh) - len(kept)
        record = record._replace(counted=kept, uncounted_ids=record.uncounted_ids + over)
        self._remember(record.number, kept)
        return record

    def _count_tools(self, calls: list[Call], named: frozenset[str]) -> None:
        tools = dict(self.tools)
        for call in calls:
            if call.name in tools or call.name in named or len(tools) < bounds.TOOL_NAMES_KEPT:
                tools[call.name] = min(tools.get(call.name, 0) + 1, bounds.COUNT_MAX)
        self.tools = tools

    def _remember(self, number: int, calls: tuple[Call, ...]) -> None:
        known = next((turn for turn in reversed(self.history) if turn.number == number), None)
        turn = Turn.of(number, calls, known.results if known else (), blocked=known.blocked if known else False)
        self._put_turn(turn)

    def _put_turn(self, turn: Turn) -> None:
        if any(kept.number == turn.number for kept in self.history):
            self.history = tuple(turn if kept.number == turn.number else kept for kept in self.history)
        else:
            self.history = (*self.history, turn)[-bounds.TURNS_KEPT :]

    def block(self, number: int) -> None:
        """Note that the calls of a response are not run: what they are answered is no progress."""
        for turn in self.history:
            if turn.number == number and not turn.blocked:
                self._put_turn(turn._replace(blocked=True))

    def lap(self, key: bytes) -> Lap | None:
        """Return what was last told of a pattern."""
        return next((lap for lap in self.laps if lap.key == key), None)

    def note(self, lap: Lap) -> None:
        """Remember that a pattern was told."""
        self.laps = (*(known for known in self.laps if known.key != lap.key), lap)[-bounds.LAPS_KEPT :]

    def take_results(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        """Match results to kept turns by call id, the newest first; return those that match none."""
        unmatched: list[Result] = []
        touched: set[int] = set()
        turns = list(self.history)
        for result in results:
            for index in range(len(turns) - 1, -1, -1):
                turn = turns[index]
                if result.call_id and any(call.id == result.call_id for call in turn.calls):
                    others = tuple(known for known in turn.results if known.call_id != result.call_id)
                    turns[index] = turn._replace(results=(*others, result))
                    touched.add(index)
                    break
            else:
                unmatched.append(result)
        for index in touched:
            turn = turns[index]
            turns[index] = Turn.of(turn.number, turn.calls, turn.results, blocked=turn.blocked)
        if touched:
            self.history = tuple(turns)
        return tuple(unmatched)

    def roll_back(self, record: ModelCall) -> None:
        """Take back what a replaced attempt counted: its calls never ran. What it spent stays spent."""
        if record.turn:
            self.turns -= 1
        self.function_calls -= record.function_calls
        tools = dict(self.tools)
        for call in record.counted:
            left = tools.get(call.name, 0) - 1
            if left > 0:
                tools[call.name] = left
            else:
                tools.pop(call.name, None)
        self.tools = tools
        self.history = tuple(turn for turn in self.history if turn.number != record.number)
        if self.pending_from == record.number:
            self.pending = None

    # --- usage ------------------------------------------------------------------------------------------------

    def spend(self, record: ModelCall, usage: Usage) -> ModelCall:
        """Take the newest usage of an attempt in place of the one before."""
        tokens = self.tokens - record.usage.tokens + usage.tokens
        spent = self.cost_micro_usd - record.usage.cost_micro_usd + usage.cost_micro_usd
        self.tokens = max(0, min(tokens, bounds.TOTAL_MAX))
        self.cost_micro_usd = max(0, min(spent, bounds.TOTAL_MAX))
        return record._replace(usage=usage)

    def link(self, traceparent: str, span_id: str) -> None:
        """Remember a non-ALLOW decision span: the first, and the newest."""
        links = (*self.links, (traceparent, span_id))
        if len(links) > bounds.LINKS_KEPT:
            links = (links[0], *links[2:])
        self.links = links


_values = attrgetter(*(each.name for each in fields(State)))
