"""What a good file means."""

import dataclasses
from pathlib import Path

import pytest

from turnkeeper import policies
from turnkeeper.core.events import Caller
from turnkeeper.core.model import Disposition, Enforcement, Unit, Verdict
from turnkeeper.core.policy import NS, Act, Budgets, Detector, ErrorStreak, Guards, Limit, Policy
from turnkeeper.policies import PolicySet, UnknownPolicyError
from turnkeeper.policies.extending import EXTENDS_MAX

GOOD = Path(__file__).parents[2] / "data" / "policies" / "good"
EXAMPLE, EVERY_RULE = GOOD / "example.yaml", GOOD / "every_rule.yaml"
NONE_BEFORE_REJECT_AFTER = Limit(Unit.TURNS, 10, before=Act(Verdict.FORCE_NONE), after=Act(Verdict.REJECT))


def parse(text: str) -> PolicySet:
    return policies.parse(text, "p.yaml")


def one(body: str) -> Policy:
    return parse(f"policies: {{a: {body}}}").policies["a"]


def test_the_built_in_default() -> None:
    found = policies.load(None)
    default = found.policies["default"]
    assert default.limits == (NONE_BEFORE_REJECT_AFTER,)
    assert default.limits[0].disposition is Disposition.RAISE
    assert default.guards == Guards()
    assert default.enforcement is Enforcement.ENFORCE
    assert default.idle_ttl_ns == 3600 * NS
    assert default.deny == ""
    rules = (default.budgets, default.repetition, default.cycle, default.error_streak)
    assert rules == (None, None, None, None)
    assert (found.own, found.rules, found.source) == (("default",), (), "built-in")


def test_every_policy_that_is_shipped_is_in_every_set() -> None:
    shipped = set(policies.load(None).policies)
    assert len(shipped) == 24
    assert set(parse("policies: {a: {}}").policies) == shipped | {"a"}


def test_every_key() -> None:
    found = policies.load(EXAMPLE)
    assert found.source == str(EXAMPLE)
    assert found.own == ("base", "default", "example", "open", "watched")
    example = found.policies["example"]
    reject, remove = Act(Verdict.REJECT), Act(Verdict.FORCE_NONE, offset=-1, remove_tools=True)
    assert example.limits == (
        NONE_BEFORE_REJECT_AFTER,
        Limit(Unit.FUNCTION_CALLS, 100, after=Act(Verdict.FORCE_NONE)),
        Limit(Unit.FUNCTION_CALLS, 3, tool="send_email", after=reject),
        Limit(Unit.MODEL_CALLS, 12, before=remove, disposition=Disposition.RETURN, zero_no_calls=True),
    )
    assert example.guards == Guards(bad_finish=False, no_tools=False)
    assert example.deny == "stopped by operations"
    assert example.idle_ttl_ns == 5400 * NS
    assert found.policies["watched"].enforcement is Enforcement.OBSERVE
    assert found.policies["watched"].limits == (NONE_BEFORE_REJECT_AFTER,)
    assert found.policies["open"].limits == ()


def test_every_key_of_budgets_detectors_and_tools() -> None:
    example = policies.load(EXAMPLE).policies["example"]
    back = Disposition.RETURN
    assert example.budgets == Budgets(200_000, 2_500_000, 900 * NS, Verdict.REJECT, 0, back)
    assert example.repetition == Detector(3, 2, Verdict.REJECT, False, 1, back)
    assert example.cycle == Detector(9, 3, Verdict.REJECT, False, 4, back)
    assert example.error_streak == ErrorStreak(36, 1, Verdict.REJECT, False, False, back)
    assert (example.may_repeat, example.may_cycle, example.may_fail) == ({"poll_job"}, {"poll_job"}, {"poll_job"})
    assert example.ignore_args == {"search": (("trace_id",), ("a/b", "~", "0"), ("",))}
    assert (example.source, example.ends) == ("the operations team", "when it is stopped")


def test_what_is_left_out_has_a_default() -> None:
    found = one("{budgets: {}, repetition: {at: 2}, cycle: {at: 6}, error_streak: {at: 1}, tools: {x: {}}}")
    none = Verdict.FORCE_NONE
    assert found.budgets == Budgets(None, None, None, none, 1, Disposition.RAISE)
    assert found.repetition == Detector(2, None, none, True, 1, Disposition.RAISE)
    assert found.cycle == Detector(6, None, none, True, 6, Disposition.RAISE)
    assert found.error_streak == ErrorStreak(1, None, none, True, True, Disposition.RAISE)
    assert (found.may_repeat, found.ignore_args) == (frozenset(), {})
    assert one("{repetition: off, cycle: off, error_streak: off}") == one("{}")


@pytest.mark.parametrize(
    ("written", "micro"),
    [("0", 0), ("0.000001", 1), ("0.1", 100_000), ("2.00", 2_000_000), ("1000000", 10**12), ("1e-6", 1), ("off", None)],
)
def test_cost_is_exact(written: str, micro: int | None) -> None:
    budgets = one(f"{{budgets: {{cost_usd: {written}}}}}").budgets
    assert budgets is not None
    assert budgets.cost_micro_usd == micro


def test_the_largest_numbers() -> None:
    found = one("{repetition: {at: 36, warn: 36}, cycle: {at: 18, max_period: 2}, error_streak: {at: 36, warn: 36}}")
    assert (found.repetition, found.cycle) == (Detector(36, 36), Detector(18, max_period=2))
    assert one("{cycle: {at: 6, max_period: 6}}").cycle == Detector(6, max_period=6)


def test_the_example_of_every_rule() -> None:
    example = policies.load(EVERY_RULE).policies["example"]
    assert len(example.limits) == 3
    assert example.limits[0] == NONE_BEFORE_REJECT_AFTER
    assert example.budgets == Budgets(200_000, 2_000_000, 900 * NS)
    assert (example.repetition, example.cycle) == (Detector(3, 2), Detector(3, 2, max_period=6))
    assert example.error_streak == ErrorStreak(3, 2)
    assert (example.may_repeat, example.ignore_args) == ({"poll_job"}, {"search": (("trace_id",),)})
    assert (example.source, example.ends) == ("", "")


def test_maps_are_joined_along_a_chain() -> None:
    found = parse("""
policies:
  c: {extends: b, guards: {no_tools: report}, limits: []}
  b: {extends: a, guards: {bad_finish: reject}, idle_ttl: 5m}
  a: {guards: {bad_finish: report, disallowed: report}, limits: [{unit: turns, n: 1, after: {then: reject}}], deny: no}
""").policies
    assert found["c"].limits == found["b"].limits == found["a"].limits != ()
    assert found["c"].guards == Guards(disallowed=False, no_tools=False)
    assert (found["c"].idle_ttl_ns, found["c"].deny) == (300 * NS, "no")


def under(profile: str, limits: str) -> tuple[Limit, ...]:
    return one(f"{{extends: {profile}, limits: [{limits}]}}").limits


def test_a_limit_over_an_inherited_one_says_what_is_changed() -> None:
    web = Limit(Unit.TURNS, 10, after=Act(Verdict.REJECT), disposition=Disposition.RETURN)
    assert under("firebase-web", "") == (web,)
    assert under("firebase-web", "{unit: turns, n: 5}") == (dataclasses.replace(web, n=5),)
    assert under("firebase-web", "{unit: turns, n: off}") == (dataclasses.replace(web, n=None),)
    raised = dataclasses.replace(web, disposition=Disposition.RAISE)
    assert under("firebase-web", "{unit: turns, disposition: raise}") == (raised,)


def test_a_limit_of_another_unit_or_tool_is_added() -> None:
    email = "{unit: function_calls, tool: send_email, n: 3, after: {then: reject}}"
    calls = "{unit: function_calls, n: 9, after: {then: reject}}"
    found = under("firebase-web", f"{email}, {calls}")
    assert [(limit.unit, limit.tool, limit.n) for limit in found] == [
        (Unit.TURNS, "", 10),
        (Unit.FUNCTION_CALLS, "send_email", 3),
        (Unit.FUNCTION_CALLS, "", 9),
    ]


def test_what_a_limit_does_at_one_point_is_replaced_whole() -> None:
    (found,) = under("genai-python", "{unit: model_calls, after: {then: force_none}}")
    assert (found.n, found.after) == (10, Act(Verdict.FORCE_NONE, offset=0))
    (found,) = under("genai-js", "{unit: model_calls, n: 0, zero: off}")
    assert (found.before, found.zero_no_calls) == (Act(Verdict.REJECT), False)


def test_a_rule_over_an_inherited_one_says_what_is_changed() -> None:
    found = one("{extends: strict, repetition: {at: 4}, budgets: {tokens: 9}, cycle: {at: 2}}")
    assert found.repetition == Detector(4, None, Verdict.REJECT, False)
    assert found.budgets == Budgets(9, then=Verdict.REJECT)
    assert found.cycle == Detector(2, max_period=6)
    assert one("{extends: strict, repetition: off}").repetition is None
    later = one("{extends: gemini-cli, repetition: {then: force_none}}").repetition
    assert later == Detector(5, None, Verdict.FORCE_NONE, False, 1, Disposition.RETURN)


def test_notes_are_about_the_policy_that_has_them() -> None:
    assert policies.load(None).policies["firebase-web"].source
    found = one("{extends: firebase-web, ends: soon}")
    assert (found.source, found.ends) == ("", "soon")


def test_a_chain_may_be_sixteen_long() -> None:
    lines = [f"  p{number}: {{extends: p{number + 1}}}" for number in range(EXTENDS_MAX)]
    text = "\n".join(["policies:", *lines, f"  p{EXTENDS_MAX}: {{deny: end}}"])
    assert parse(text).policies["p0"].deny == "end"


def test_a_file_may_replace_the_default() -> None:
    found = parse("policies: {default: {deny: closed}, a: {extends: default}}")
    assert found.policies["default"].deny == found.policies["a"].deny == "closed"
    assert found.choose("", Caller()).deny == "closed"


def test_a_file_of_rules_alone_chooses_among_built_in_policies() -> None:
    assert parse("match: [{when: {agent: a}, policy: default}]").choose("", Caller(agent="a")).name == "default"


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("500ms", NS // 2),
        ("30s", 30 * NS),
        ("15m", 900 * NS),
        ("24h", 86400 * NS),
        ("1h30m", 5400 * NS),
        ("1h2m3s4ms", 3723 * NS + 4 * NS // 1000),
        ("0h1s", NS),
    ],
)
def test_durations(text: str, ns: int) -> None:
    assert one(f"{{idle_ttl: {text}}}").idle_ttl_ns == ns


@pytest.mark.parametrize(
    ("written", "n"),
    [("0", 0), ("010", 10), ("0o10", 8), ("0x10", 16), ("+3", 3), ("1e1", 10), ("2.0", 2), ("off", None)],
)
def test_counts(written: str, n: int | None) -> None:
    assert one(f"{{limits: [{{unit: turns, n: {written}, after: {{then: reject}}}}]}}").limits[0].n == n


def test_words_are_words() -> None:
    found = parse("policies: {off: {deny: yes}, no: {deny: ''}}").policies
    assert (found["off"].deny, found["no"].deny) == ("yes", "")


def test_an_anchor_is_a_way_to_write_less() -> None:
    found = parse("policies: {a: {limits: &l [{unit: turns, n: 1, after: {then: reject}}]}, b: {limits: *l}}").policies
    assert found["a"].limits == found["b"].limits != ()


# --- choosing -------------------------------------------------------------------------------------------------


def test_named_first_then_the_first_rule_that_fits_then_default() -> None:
    found = policies.load(EXAMPLE)
    billing = Caller(service="billing", agent="refund-eu", model="gemini-2.5-pro", provider="x")
    assert found.choose("open", billing).name == "open"
    assert found.choose("", billing).name == "example"
    assert found.choose("", billing._replace(agent="Refund-eu")).name == "watched"
    assert found.choose("", billing._replace(agent="", model="gemini-2.5-ultra")).name == "default"
    assert found.choose("", Caller()).name == "default"


@pytest.mark.parametrize(
    ("glob", "fits", "fits_not"),
    [
        ("a*", ["a", "abc"], ["A", "ba", ""]),
        ("*", ["", "a"], []),
        ("a?c", ["abc"], ["ac"]),
        ("[ab]c", ["ac", "bc"], ["cc", "[ab]c"]),
        ("[!a]", ["b"], ["a"]),
        ("a.c", ["a.c"], ["abc"]),
        ("a/*", ["a/b/c"], ["a"]),
    ],
)
@pytest.mark.parametrize("field", ["service", "agent", "model", "provider"])
def test_globs(field: str, glob: str, fits: list[str], fits_not: list[str]) -> None:
    found = parse(f"match: [{{when: {{{field}: '{glob}'}}, policy: hit}}]\npolicies: {{hit: {{}}}}")
    for value in fits:
        assert found.choose("", Caller()._replace(**{field: value})).name == "hit", value
    for value in fits_not:
        assert found.choose("", Caller()._replace(**{field: value})).name == "default", value


def test_all_keys_of_a_rule_must_fit() -> None:
    found = parse("match: [{when: {service: s, agent: a}, policy: hit}]\npolicies: {hit: {}}")
    assert found.choose("", Caller(service="s", agent="a")).name == "hit"
    assert found.choose("", Caller(service="s")).name == "default"


def test_an_unknown_name_is_told_with_the_names_there_are() -> None:
    found = policies.load(EXAMPLE)
    with pytest.raises(UnknownPolicyError) as caught:
        found.choose("exmple", Caller())
    shipped = sorted(set(policies.load(None).policies) - {"default"})
    assert caught.value.name == "exmple"
    assert caught.value.known == ("base", "default", "example", "open", "watched", *shipped)
    allowed = f"{', '.join(caught.value.known)}, or none to have one chosen"
    assert str(caught.value) == f"policy: 'exmple' is not defined, allowed: {allowed}"


def test_a_name_that_is_gone_is_the_default() -> None:
    found = policies.load(None)
    assert found.current("default") == (found.policies["default"], False)
    assert found.current("gone") == (found.policies["default"], True)


# --- versions -------------------------------------------------------------------------------------------------

BODY = "{limits: [{unit: turns, n: 3, after: {then: reject}}], guards: {no_tools: report}}"


@pytest.mark.parametrize(
    "same",
    [
        "{guards: {no_tools: report}, limits: [{after: {then: reject}, n: 0x3, unit: turns}]} # a comment\n",
        """{enforcement: enforce, idle_ttl: 60m, deny: '', guards: {no_tools: report, bad_finish: reject},
        limits: [{unit: turns, n: 3, before: off, after: {then: reject, offset: 0}, disposition: raise}]}""",
    ],
)
def test_a_version_is_of_the_content(same: str) -> None:
    assert one(BODY).version == one(same).version
    assert (
        parse(f"policies: {{a: {{extends: b}}, b: {same}, c: {{deny: x}}}}").policies["a"].version == one(BODY).version
    )


@pytest.mark.parametrize(
    "other",
    [
        BODY.replace("3", "4"),
        BODY.replace("turns", "model_calls"),
        BODY.replace("report", "reject"),
        BODY.replace("after", "before"),
        BODY.replace("then: reject", "then: reject, offset: 1"),
        BODY.replace("n: 3", "n: off"),
        BODY.replace("n: 3", "n: 3, zero: no_calls"),
        BODY.replace("{limits", "{idle_ttl: 1s, limits"),
        BODY.replace("{limits", "{deny: x, limits"),
        BODY.replace("{limits", "{enforcement: observe, limits"),
        BODY.replace("unit: turns", "disposition: return, unit: turns"),
        *(
            BODY.replace("{limits", f"{{{more}, limits")
            for more in (
                "budgets: {tokens: 0}",
                "budgets: {}",
                "repetition: {at: 2}",
                "cycle: {at: 2}",
                "error_streak: {at: 2}",
                "tools: {x: {repetition: off}}",
                "tools: {x: {cycle: off}}",
                "tools: {x: {error_streak: off}}",
                "tools: {x: {ignore_args: [/a]}}",
                "tools: {x: {ignore_args: [/a, /b]}}",
            )
        ),
    ],
)
def test_other_content_is_another_version(other: str) -> None:
    assert one(BODY).version != one(other).version


def test_notes_are_no_content() -> None:
    assert one(BODY.replace("{limits", "{source: x, ends: y, limits")).version == one(BODY).version


def test_versions_stay_from_run_to_run_and_release_to_release() -> None:
    assert (policies.load(None).policies["default"].version, one("{}").version) == ("f3cfb0edcad7", "f9962a822181")
