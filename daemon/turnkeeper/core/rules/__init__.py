"""The rules: one file each, all judged at every event.

Law: a rule looks at a ``Moment`` and returns findings; it changes nothing, and it knows no other rule. The engine
takes the most severe finding, among equals the reason of highest precedence, so the order of ``RULES`` is of no
consequence. To add a rule: write ``before(moment)`` and ``after(moment)``, and name its module here.
"""

from turnkeeper.core.rules import budgets, deny, errors, finish, forced, laps, limits, tools

RULES = (finish, forced, tools, deny, budgets, limits, errors, laps)
BEFORE = tuple(rule.before for rule in RULES if hasattr(rule, "before"))
AFTER = tuple(rule.after for rule in RULES if hasattr(rule, "after"))
