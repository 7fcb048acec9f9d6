"""Everything this package raises."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnkeeper_client._gen.words import Counters, Disposition, Reason
    from turnkeeper_client.answers import Answer


class TurnkeeperError(Exception):
    """The base of every error of this package."""


class OptionError(TurnkeeperError, ValueError):
    """An option has a value that is not allowed."""

    def __init__(self, option: str, value: object, allowed: str) -> None:
        super().__init__(f"{option}: {value!r} is not allowed; allowed: {allowed}")
        self.option, self.value, self.allowed = option, value, allowed


class ArgumentError(TurnkeeperError, ValueError):
    """An argument cannot be sent at all, such as a negative number."""

    def __init__(self, argument: str, why: str) -> None:
        super().__init__(f"{argument}: {why}")


class ToolLoopRejected(TurnkeeperError):  # noqa: N818 - the name users catch
    """The loop may not go on."""

    def __init__(self, decision: "Answer") -> None:
        super().__init__(f"{decision.reason.name}: {decision.message}")
        self.decision = decision

    @property
    def reason(self) -> "Reason":
        """Why."""
        return self.decision.reason

    @property
    def counters(self) -> "Counters":
        """What was counted when it was rejected."""
        return self.decision.counters

    @property
    def disposition(self) -> "Disposition":
        """RAISE, or RETURN with nothing to return."""
        return self.decision.disposition

    @property
    def message(self) -> str:
        """Why, for a person."""
        return self.decision.message
