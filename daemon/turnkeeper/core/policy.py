"""A policy: rules as frozen data.

Law: a policy that exists is valid. Constructors check what a rule means, ``policies`` checks how it is written.
A number is a count >= 0; ``None`` is *off*, never *unlimited by accident*; 0 means none allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from turnkeeper.core.model import Disposition, Enforcement, Unit, Verdict

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Act:
    """What a limit does at one point: at ``used >= n + offset`` before, at ``used > n + offset`` after."""

    then: Verdict
    offset: int = 0
    remove_tools: bool = False

    def __post_init__(self) -> None:
        if self.then not in (Verdict.FORCE_NONE, Verdict.REJECT):
            msg = f"then: {self.then.name} stops nothing"
            raise ValueError(msg)
        if self.remove_tools and self.then is not Verdict.FORCE_NONE:
            msg = "remove_tools is a FORCE_NONE"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``n`` of ``unit`` (of one ``tool``, or of all) under a request id."""

    unit: Unit
    n: int | None
    tool: str = ""
    before: Act | None = None
    after: Act | None = None
    disposition: Disposition = Disposition.RAISE
    zero_no_calls: bool = False

    def __post_init__(self) -> None:
        if self.unit is Unit.UNSPECIFIED:
            msg = "a limit needs a unit"
            raise ValueError(msg)
        if self.n is not None and self.n < 0:
            msg = f"n: {self.n}, a count is >= 0"
            raise ValueError(msg)
        if self.tool and self.unit is not Unit.FUNCTION_CALLS:
            msg = f"tool: {self.tool!r}, only function_calls are counted by tool"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Guards:
    """True rejects, False tells a fact and lets pass."""

    bad_finish: bool = True
    disallowed: bool = True
    no_tools: bool = True
    not_enabled: bool = True


@dataclass(frozen=True, slots=True)
class Budgets:
    """What may be spent under a request id. ``None`` is off."""

    tokens: int | None = None
    cost_micro_usd: int | None = None
    elapsed_ns: int | None = None
    then: Verdict = Verdict.FORCE_NONE
    grace_calls: int = 1
    disposition: Disposition = Disposition.RAISE


@dataclass(frozen=True, slots=True)
class Detector:
    """Acts at ``at`` laps, warns at ``warn``. ``same_result``: only laps with equal results count."""

    at: int
    warn: int | None = None
    then: Verdict = Verdict.FORCE_NONE
    same_result: bool = True
    max_period: int = 1
    disposition: Disposition = Disposition.RAISE


@dataclass(frozen=True, slots=True)
class ErrorStreak:
    """Acts at ``at`` failing turns in a row, warns at ``warn``."""

    at: int
    warn: int | None = None
    then: Verdict = Verdict.FORCE_NONE
    all_results: bool = True
    same_error: bool = True
    disposition: Disposition = Disposition.RAISE


@dataclass(frozen=True, slots=True)
class Policy:
    """A named set of rules plus enforcement. ``version`` names its content."""

    name: str
    version: str = ""
    enforcement: Enforcement = Enforcement.ENFORCE
    limits: tuple[Limit, ...] = ()
    guards: Guards = field(default_factory=Guards)
    deny: str = ""
    budgets: Budgets | None = None
    repetition: Detector | None = None
    cycle: Detector | None = None
    error_streak: ErrorStreak | None = None
    ignore_args: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # JSON pointers by tool
    may_repeat: frozenset[str] = frozenset()
    may_cycle: frozenset[str] = frozenset()
    may_fail: frozenset[str] = frozenset()
    idle_ttl_ns: int = 3600 * NS
    source: str = ""
    ends: str = ""
    active_limits: tuple[Limit, ...] = field(init=False)
    limited_tools: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        if not self.name:
            msg = "a policy needs a name"
            raise ValueError(msg)
        active = tuple(limit for limit in self.limits if limit.n is not None)
        object.__setattr__(self, "active_limits", active)
        object.__setattr__(self, "limited_tools", frozenset(limit.tool for limit in active if limit.tool))
