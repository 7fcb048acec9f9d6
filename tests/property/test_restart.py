"""A daemon that forgets everything before any one event never lets more turns run than the limit.

The application is obedient: it tells the turns in its transcript and the mode it sent, runs the calls of a response
only when its last chunk was answered and no chunk was held back, and stops on a REJECT. The model is not: it calls
functions whatever it was told.
"""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.core.engine import step
from turnkeeper.core.events import AfterModel, BeforeModel, Call, Event, Transcript
from turnkeeper.core.model import AfterAnswer, Answer, BeforeAnswer, Disposition, Mode, Unit, Verdict
from turnkeeper.core.policy import Act, Limit, Policy
from turnkeeper.core.state import State

NONE, REJECT = Act(Verdict.FORCE_NONE), Act(Verdict.REJECT)
REMOVE = Act(Verdict.FORCE_NONE, remove_tools=True)
WAYS = [(NONE, REJECT), (NONE, None), (REJECT, None), (None, REJECT), (None, NONE), (REMOVE, REJECT), (REMOVE, NONE)]
REQUESTS_MAX = 12


class Application(NamedTuple):
    """How an application drives its loop."""

    numbered: bool
    chunks: int
    retried: int  # the model call that fails after its first chunk and is made again; 0: none


class Daemon:
    """The core, and the events before which it forgets."""

    def __init__(self, policy: Policy, lost: set[int]) -> None:
        self.policy = policy
        self.lost = lost
        self.state: State | None = None
        self.events = 0

    def tell(self, event: Event) -> Answer:
        """Answer one event."""
        if self.events in self.lost:
            self.state = None
        self.events += 1
        done = step(self.state, event, self.policy, self.events)
        self.state = done.state
        return done.answer


def turns_run(application: Application, daemon: Daemon) -> int:
    """Let the loop run, and return how many turns' calls were run."""
    ran = 0
    for shown in range(REQUESTS_MAX):  # turns in the transcript: each request before this one made one
        number = shown + 1
        for attempt in (0, 1) if number == application.retried else (0,):
            told = number if application.numbered else 0
            seen = Transcript(shown, shown > 0)
            before = daemon.tell(BeforeModel("r", told, attempt, mode=Mode.ANY, transcript=seen))
            assert isinstance(before, BeforeAnswer)
            if before.decision.verdict is Verdict.REJECT:
                return ran
            last = 1 if number == application.retried and attempt == 0 else application.chunks
            verdict = response(daemon, application, told, attempt, before, shown, last)
        if verdict is Verdict.REJECT:
            return ran
        ran += verdict is Verdict.ALLOW
    return ran


def response(
    daemon: Daemon, application: Application, told: int, attempt: int, before: BeforeAnswer, shown: int, last: int
) -> Verdict:
    """Tell the chunks of a response, and return the worst answer."""
    worst = Verdict.ALLOW
    for chunk in range(1, last + 1):
        event = AfterModel(
            "r",
            told,
            attempt,
            chunk,
            chunk == application.chunks,
            (Call(f"{before.model_call}-{chunk}", "search"),),
            mode_sent=before.mode,
            turns_since_prompt=shown,
        )
        answer = daemon.tell(event)
        assert isinstance(answer, AfterAnswer)
        worst = max(worst, answer.decision.verdict)
        if worst is Verdict.REJECT:
            break
    return worst


APPLICATIONS = st.builds(Application, st.booleans(), st.integers(1, 3), st.integers(0, 5))
POLICIES = st.builds(
    lambda n, way: Policy("p", limits=(Limit(Unit.TURNS, n, "", way[0], way[1], Disposition.RAISE),)),
    st.integers(0, 5),
    st.sampled_from(WAYS),
)


@given(policy=POLICIES, application=APPLICATIONS, lost=st.integers(0, 40))
def test_state_lost_before_one_event(policy: Policy, application: Application, lost: int) -> None:
    assert turns_run(application, Daemon(policy, {lost})) <= (policy.limits[0].n or 0)


@given(policy=POLICIES, application=APPLICATIONS, lost=st.sets(st.integers(0, 60)))
def test_state_lost_before_many_events(policy: Policy, application: Application, lost: set[int]) -> None:
    assert turns_run(application, Daemon(policy, lost)) <= (policy.limits[0].n or 0)


@given(policy=POLICIES, application=APPLICATIONS.map(lambda one: one._replace(numbered=True)))
def test_without_a_loss_exactly_the_limit_runs(policy: Policy, application: Application) -> None:
    assert turns_run(application, Daemon(policy, set())) == policy.limits[0].n
