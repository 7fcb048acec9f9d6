"""What a rule sees."""

from collections.abc import Sequence
from typing import NamedTuple

from turnkeeper.core.events import AfterModel, BeforeModel
from turnkeeper.core.policy import Policy
from turnkeeper.core.state import Finding, ModelCall, State

Findings = Sequence[Finding]


class Before(NamedTuple):
    """A model call about to be made. ``state`` has all that was told before it, and this call counted."""

    state: State
    event: BeforeModel
    policy: Policy
    record: ModelCall


class After(NamedTuple):
    """A response, or a chunk of one. ``state`` and ``record`` have it counted.

    ``fresh``: it brought function calls that were not told before. A chunk that repeats calls, or has none, adds
    nothing to judge a count by; what was found for the response before still holds.
    """

    state: State
    event: AfterModel
    policy: Policy
    record: ModelCall
    fresh: bool
