"""Short events and what is read from their answers, for tables."""

from turnkeeper.core.engine import step
from turnkeeper.core.events import AfterModel, BeforeModel, Call, EndRequest, Event
from turnkeeper.core.model import AfterAnswer, BeforeAnswer, Decision, Mode, Reason, Unit, Verdict
from turnkeeper.core.policy import Act, Limit, Policy
from turnkeeper.core.state import State

NONE, REMOVE, REJECT = Act(Verdict.FORCE_NONE), Act(Verdict.FORCE_NONE, remove_tools=True), Act(Verdict.REJECT)
SEARCH = Call("a", "search")


def turns(n: int | None, before: Act | None = NONE, after: Act | None = REJECT) -> Policy:
    return Policy("p", limits=(Limit(Unit.TURNS, n, before=before, after=after),))


def before(number: int = 1, mode: int = Mode.AUTO, **fields: object) -> BeforeModel:
    return BeforeModel("r", number, mode=mode, **fields)  # type: ignore[arg-type]


def after(number: int = 1, *calls: Call, **fields: object) -> AfterModel:
    return AfterModel("r", number, calls=calls, **fields)  # type: ignore[arg-type]


def end(**fields: object) -> EndRequest:
    return EndRequest("r", **fields)  # type: ignore[arg-type]


class Loop:
    """One request id, and the newest step."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.state: State | None = None
        self.now_ns = 0

    def tell(self, *events: Event) -> "Loop":
        for event in events:
            self.now_ns += 1
            self.step = step(self.state, event, self.policy, self.now_ns)
            self.state = self.step.state
        return self

    @property
    def decision(self) -> Decision:
        assert isinstance(self.step.answer, BeforeAnswer | AfterAnswer)
        return self.step.answer.decision

    @property
    def said(self) -> tuple[Verdict, Reason]:
        return self.decision.verdict, self.decision.reason

    @property
    def sent(self) -> tuple[int, bool, tuple[str, ...]]:
        assert isinstance(self.step.answer, BeforeAnswer)
        return self.step.answer.mode, self.step.answer.drop_declarations, self.step.answer.declare_tools
