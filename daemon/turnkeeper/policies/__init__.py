"""Policy files: YAML to ``core.policy`` with the place of every problem, and their reload."""

from turnkeeper.policies.loader import PolicyError, load, parse, read, shipped
from turnkeeper.policies.policy_file import PolicyFile
from turnkeeper.policies.policy_set import PolicySet, Rule, UnknownPolicyError
from turnkeeper.policies.shape import schema
from turnkeeper.policies.yaml_nodes import Problem

__all__ = [
    "PolicyError",
    "PolicyFile",
    "PolicySet",
    "Problem",
    "Rule",
    "UnknownPolicyError",
    "load",
    "parse",
    "read",
    "schema",
    "shipped",
]
