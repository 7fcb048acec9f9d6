"""Random policies, and random loops under them: mostly in order, now and then late, repeated, retried or contradictory.

All alphabets are small, so that keys, call ids and limits meet.
"""

from collections.abc import Callable

from hypothesis import strategies as st

from turnkeeper.core.events import AfterModel, BeforeModel, Call, EndRequest, Event, Result, Transcript, Usage
from turnkeeper.core.model import Disposition, Enforcement, FinishReason, Mode, Outcome, Unit, Verdict
from turnkeeper.core.policy import Act, Guards, Limit, Policy

ID = "r"
NAMES = st.sampled_from(["search", "search", "search", "mail", "fetch", ""])
CALL_IDS = st.sampled_from(["a", "b", "c", "d", ""])
MODES = st.sampled_from([Mode.UNSPECIFIED, Mode.AUTO, Mode.AUTO, Mode.ANY, Mode.NONE, Mode.VALIDATED, 9])
CALLS = st.lists(st.builds(Call, CALL_IDS, NAMES), max_size=3).map(tuple)
RESULTS = st.lists(st.builds(Result, CALL_IDS, NAMES, is_error=st.booleans()), max_size=2).map(tuple)
TOOLS = st.sampled_from([None, None, (), ("search",), ("search", "mail")])
FINISHES = st.sampled_from([*[FinishReason.UNSPECIFIED] * 4, *FinishReason])
SMALL = st.integers(0, 4)
TRANSCRIPTS = st.none() | st.builds(
    Transcript, SMALL, st.booleans(), st.sampled_from([(), ("search",), ("mail", "fetch")])
)
USAGES = st.none() | st.builds(Usage, SMALL, SMALL, st.sampled_from([0, 0, 7]), SMALL)

ACTS = st.one_of(
    st.builds(Act, st.just(Verdict.FORCE_NONE), st.integers(-1, 1), st.booleans()),
    st.builds(Act, st.just(Verdict.REJECT), st.integers(-1, 1)),
)
DISPOSITIONS = st.sampled_from([Disposition.RAISE, Disposition.RETURN])
COUNTS = st.integers(0, 4)
OFF: st.SearchStrategy[int | None] = st.none()


def limits(counts: st.SearchStrategy[int | None] = COUNTS) -> st.SearchStrategy[Limit]:
    """One limit of any kind."""
    acts = st.none() | ACTS
    common = {"n": counts, "before": acts, "after": acts, "disposition": DISPOSITIONS, "zero_no_calls": st.booleans()}
    tools = st.sampled_from(["", "search", "mail"])
    return st.one_of(
        st.builds(Limit, st.sampled_from([Unit.TURNS, Unit.MODEL_CALLS]), **common),
        st.builds(Limit, st.just(Unit.FUNCTION_CALLS), tool=tools, **common),
    )


GUARDS = st.just(Guards()) | st.builds(Guards, st.booleans(), st.booleans(), st.booleans(), st.booleans())
POLICIES = st.builds(
    Policy,
    st.just("p"),
    st.just("1"),
    st.sampled_from(Enforcement),
    st.lists(limits(COUNTS | OFF), max_size=3).map(tuple),
    GUARDS,
    st.sampled_from(["", "", "", "", "stopped"]),
)


@st.composite
def before_models(draw: st.DrawFn, number: int, attempt: int = 0, request_id: str = ID) -> BeforeModel:
    """One question before a model call."""
    return BeforeModel(
        request_id,
        number,
        attempt,
        side=draw(st.sampled_from([False, False, False, True])),
        mode=draw(MODES),
        allowed_names=draw(st.sampled_from([(), (), ("mail",)])),
        enabled_tools=draw(TOOLS),
        transcript=draw(TRANSCRIPTS),
        results=draw(RESULTS),
    )


@st.composite
def after_models(draw: st.DrawFn, number: int, attempt: int = 0, chunk: int = 0, request_id: str = ID) -> AfterModel:
    """One response, or chunk of it."""
    return AfterModel(
        request_id,
        number,
        attempt,
        chunk,
        last=draw(st.booleans()) or chunk == 0,
        calls=draw(CALLS),
        finish_reason=draw(FINISHES),
        usage=draw(USAGES),
        has_text=draw(st.booleans()),
        mode_sent=draw(MODES),
        turns_since_prompt=draw(SMALL),
        side=draw(st.sampled_from([False, False, False, True])),
    )


@st.composite
def loops(draw: st.DrawFn, length: int = 20, request_id: str = ID) -> list[Event]:
    """A loop as a network may deliver it."""
    told: list[Event] = []
    number = draw(st.sampled_from([0, 0, 0, 3]))
    attempt = chunk = 0
    for _ in range(draw(st.integers(1, length))):
        what = draw(st.sampled_from(_WHATS))
        if what == "next":
            number, attempt, chunk = number + 1, 0, 0
            told.append(draw(before_models(number, 0, request_id)))
        elif what == "response":
            told.append(draw(after_models(number, attempt, chunk, request_id)))
            chunk += 1
        elif what == "retry":
            attempt, chunk = attempt + 1, 0
            told.append(draw(before_models(number, attempt, request_id)))
        elif what == "repeat" and told:
            told.append(draw(st.sampled_from(told)))
        elif what == "stray":
            told.append(draw(_strays(max(0, number - 5), number + 2, request_id)))
        elif what == "end":
            told.append(EndRequest(request_id, draw(st.sampled_from(Outcome))))
            number = draw(st.sampled_from([number, 0]))
    return told


_WHATS = [*["next"] * 6, *["response"] * 8, *["retry"] * 2, *["repeat"] * 2, *["stray"] * 3, "end"]


@st.composite
def _strays(draw: st.DrawFn, low: int, high: int, request_id: str) -> Event:
    number, attempt = draw(st.integers(low, high)), draw(st.sampled_from([0, 0, 1, 2]))
    if draw(st.booleans()):
        return draw(before_models(number, attempt, request_id))
    return draw(after_models(number, attempt, draw(st.integers(0, 3)), request_id))


TIMES: st.SearchStrategy[Callable[[int], int]] = st.lists(st.integers(0, 50), min_size=7, max_size=7).map(
    lambda steps: lambda index: 1000 + steps[index % 7] * (index + 1)
)
