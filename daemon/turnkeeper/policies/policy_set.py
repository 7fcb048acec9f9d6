"""The policies in force, and which one a request gets.

Law: a set never changes; a reload makes another. A policy named ``default`` is always in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from turnkeeper.core.events import Caller
from turnkeeper.core.policy import Policy
from turnkeeper.policies.shape import words

DEFAULT = "default"


class UnknownPolicyError(LookupError):
    """A policy was named that is not there."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"policy: {name!r} is not defined, allowed: {words(known)}, or none to have one chosen")
        self.name = name
        self.known = known


@dataclass(frozen=True, slots=True)
class Rule:
    """The policy for callers whose fields fit every glob. ``when`` has pairs of a field of ``Caller`` and a glob."""

    when: tuple[tuple[str, str], ...]
    policy: str

    def fits(self, caller: Caller) -> bool:
        """Tell whether all globs fit, letter by letter."""
        return all(fnmatchcase(getattr(caller, field), glob) for field, glob in self.when)


@dataclass(frozen=True, slots=True)
class PolicySet:
    """Policies by name, and the rules that choose between them. ``source`` is the file, or ``built-in``.

    ``own`` names the default and those of the file; the others are shipped.
    """

    policies: Mapping[str, Policy]
    rules: tuple[Rule, ...]
    source: str
    own: tuple[str, ...] = (DEFAULT,)

    def choose(self, named: str, caller: Caller) -> Policy:
        """Return the policy that is named, else of the first rule that fits, else the default."""
        if named:
            if named not in self.policies:
                raise UnknownPolicyError(named, (*self.own, *sorted(set(self.policies) - set(self.own))))
            return self.policies[named]
        chosen = next((rule.policy for rule in self.rules if rule.fits(caller)), DEFAULT)
        return self.policies[chosen]

    def current(self, name: str) -> tuple[Policy, bool]:
        """Return the policy of that name; the default and True when it is gone."""
        found = self.policies.get(name)
        return (self.policies[DEFAULT], True) if found is None else (found, False)
