"""Whatever is sent, a state stays within ``core.bounds``, and every answer can be encoded."""

from collections.abc import Iterator
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import POLICIES, loops
from table import run

from turnkeeper.core import bounds
from turnkeeper.core.events import AfterModel, BeforeModel, Call, Event, Result, Trace, Transcript, Usage
from turnkeeper.core.model import AfterAnswer, Answer, BeforeAnswer, EndAnswer, FinishReason, Unit, Verdict
from turnkeeper.core.policy import Act, Limit, Policy
from turnkeeper.core.state import State
from turnkeeper.wire import encode

EDGES = st.sampled_from([0, 1, 2, 3, 2**31, bounds.COUNT_MAX - 1, bounds.COUNT_MAX])
TOTALS = st.sampled_from([0, 1, 2**63, bounds.TOTAL_MAX])
LARGEST = max(bounds.CALLS_KEPT, bounds.TOOLS_PER_EVENT, bounds.TOOL_NAMES_KEPT)


def collections(value: object) -> Iterator[int]:
    """Yield the size of every collection in a value, as deep as they lie."""
    if isinstance(value, State):
        for name in State.__slots__:
            yield from collections(getattr(value, name))
    elif isinstance(value, dict):
        yield len(value)
    elif isinstance(value, tuple | list | set | frozenset):
        if not hasattr(value, "_fields"):
            yield len(value)
        for inner in value:
            yield from collections(inner)


def check(state: State, policy: Policy) -> None:
    assert len(state.calls) <= bounds.MODEL_CALLS_KEPT
    assert len(state.history) <= bounds.TURNS_KEPT
    assert len(state.links) <= bounds.LINKS_KEPT
    assert len(state.tools) <= bounds.TOOL_NAMES_KEPT + len(policy.limited_tools)
    assert len(state.tools_seen) <= bounds.TOOLS_PER_EVENT
    for record in state.calls:
        assert len(record.counted) <= bounds.CALLS_KEPT
        assert len(record.chunks) <= bounds.CHUNKS_KEPT
        assert not any(kept.answer.calls for kept in record.chunks)
    for turn in state.history:
        assert len(turn.calls) <= bounds.CALLS_KEPT
        assert len(turn.results) <= bounds.CALLS_KEPT
    assert max(collections(state)) <= LARGEST


def flood(random: Random, length: int) -> Iterator[Event]:
    """Events at the bounds of the wire, on few model calls: everything a caller could pile up."""
    for index in range(length):
        number = random.choice([0, 1, 2, 3, index // 20 + 1])
        trace = Trace("00-1-1-01", f"{index:016x}")
        if random.random() < 0.2:
            results = tuple(Result(f"c{random.randrange(2000)}") for _ in range(random.choice([0, 1, 256])))
            tools = tuple(f"t{number}" for number in range(512))
            seen = Transcript(random.randrange(50), instruction_tools=tools)
            yield BeforeModel("r", number, 0, enabled_tools=tools, results=results, transcript=seen, trace=trace)
            continue
        calls = tuple(
            Call(random.choice(["", f"c{random.randrange(2000)}"]), f"t{random.randrange(400)}")
            for _ in range(random.choice([0, 1, 1, 3, bounds.CALLS_PER_EVENT]))
        )
        attempt = random.choice([0, 0, 0, index // 50])
        yield AfterModel("r", number, attempt, random.randrange(300), calls=calls, trace=trace)


FLOOD_POLICY = Policy(
    "p",
    limits=(
        Limit(Unit.FUNCTION_CALLS, 3, "mail", after=Act(Verdict.REJECT)),
        Limit(Unit.FUNCTION_CALLS, 100, "t7", after=Act(Verdict.FORCE_NONE)),
    ),
)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32))
def test_a_flood_stays_within_the_bounds(seed: int) -> None:
    for index, told in enumerate(run(flood(Random(seed), 200), FLOOD_POLICY)):
        if index % 10 == 0:
            assert told.done.state is not None
            check(told.done.state, FLOOD_POLICY)
        encoded(told.done.answer)


def encoded(answer: Answer) -> bytes:
    if isinstance(answer, BeforeAnswer):
        return encode.before_model(answer)
    if isinstance(answer, AfterAnswer):
        return encode.after_model(answer)
    return encode.end_request(answer) if isinstance(answer, EndAnswer) else b""


USAGES = st.none() | st.builds(Usage, TOTALS, TOTALS, TOTALS, TOTALS, TOTALS, TOTALS)
EXTREMES = st.lists(
    st.builds(
        BeforeModel,
        st.just("r"),
        EDGES,
        EDGES,
        transcript=st.none() | st.builds(Transcript, EDGES),
        results=st.just((Result("a"),)),
        mode=EDGES.filter(lambda mode: mode < 2**31),
    )
    | st.builds(
        AfterModel,
        st.just("r"),
        EDGES,
        EDGES,
        EDGES,
        calls=st.sampled_from([(), (Call("a", "search"),), (Call("", "mail"), Call("b", "search"))]),
        finish_reason=st.sampled_from(FinishReason),
        usage=USAGES,
        turns_since_prompt=EDGES,
    ),
    max_size=12,
)


@given(policy=POLICIES, events=EXTREMES, times=st.lists(st.integers(0, 2**62), min_size=1, max_size=5))
def test_extreme_numbers_are_answered_and_encoded(policy: Policy, events: list[Event], times: list[int]) -> None:
    for told in run(events, policy, lambda index: times[index % len(times)]):
        encoded(told.done.answer)
        state = told.done.state
        assert state is not None
        assert 0 <= state.turns <= bounds.COUNT_MAX
        assert 0 <= state.model_calls <= bounds.COUNT_MAX
        assert 0 <= state.function_calls <= bounds.COUNT_MAX
        assert 0 <= state.tokens <= bounds.TOTAL_MAX
        assert 0 <= state.cost_micro_usd <= bounds.TOTAL_MAX


@given(policy=POLICIES, events=loops())
def test_any_loop_stays_within_the_bounds(policy: Policy, events: list[Event]) -> None:
    for told in run(events, policy):
        encoded(told.done.answer)
        if told.done.state is not None:
            check(told.done.state, policy)
