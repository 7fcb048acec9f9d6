"""Write the vectors of the profiles, from the table below.

    python tests/vectors/profiles/write_vectors.py

The table says for each profile what a model that always calls comes to with the limit N: how many requests, how many turns
run, and what stops it. Each expectation follows from these numbers alone; no decision is computed here.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LONG = 60  # a default above it is taken up near its end, not played from the start
OFF = 12  # turns played where there is no limit
Step = dict[str, Any]
Formula = Callable[[int], int]


@dataclass(frozen=True)
class Stop:
    """What stops a loop: a request or a response, and the verdict and disposition it gets."""

    at: str  # request: the one after the last that is made; response: the last one; forced: the last request
    disposition: str
    removed: bool = False  # of a forced request: the declarations too


ERROR_AFTER, BACK_AFTER = Stop("response", "RAISE"), Stop("response", "RETURN")
ERROR_BEFORE, BACK_BEFORE = Stop("request", "RAISE"), Stop("request", "RETURN")
FORCED, REMOVED = Stop("forced", "RAISE"), Stop("forced", "RETURN", removed=True)


@dataclass(frozen=True)
class Profile:
    """A row of the table. ``at_zero`` is what stops it at N = 0, where that is something else."""

    default: int | None
    unit: str
    requests: Formula
    turns: Formula
    stop: Stop
    at_zero: Stop | None = None

    def stop_at(self, n: int) -> Stop:
        """Return what stops a loop with the limit n."""
        return self.at_zero if n == 0 and self.at_zero else self.stop


def _n(n: int) -> int:
    return n


def _n_and_one(n: int) -> int:
    return n + 1


def _n_less_one(n: int) -> int:
    return max(0, n - 1)


def _one_at_least(n: int) -> int:
    return max(1, n)


TABLE = {
    "extensions-ai": Profile(40, "turns", _n_and_one, _n, REMOVED),
    "firebase-android": Profile(10, "turns", _n_and_one, _n, ERROR_AFTER),
    "firebase-flutter": Profile(5, "turns", _n, _n, ERROR_BEFORE),
    "firebase-ios": Profile(10, "turns", _n_and_one, _n, FORCED),
    "firebase-unity": Profile(5, "turns", _n_and_one, _n, BACK_AFTER),
    "firebase-unity-stream": Profile(5, "turns", _n_and_one, _n_and_one, BACK_BEFORE),
    "firebase-web": Profile(10, "turns", _n_and_one, _n, BACK_AFTER),
    "gemini-cli": Profile(100, "turns", _n, _n, BACK_BEFORE),
    "genai-java": Profile(10, "model_calls", _one_at_least, _n_less_one, BACK_AFTER),
    "genai-java-sync": Profile(10, "model_calls", _n, _n, BACK_BEFORE),
    "genai-js": Profile(10, "model_calls", _one_at_least, _n, BACK_BEFORE, at_zero=BACK_AFTER),
    "genai-js-stream": Profile(10, "turns", _n_and_one, _n, BACK_AFTER),
    "genai-python": Profile(10, "model_calls", _one_at_least, _n_less_one, BACK_AFTER),
    "genai-python-2.23": Profile(10, "model_calls", _one_at_least, _n, BACK_BEFORE, at_zero=BACK_AFTER),
    "google-adk": Profile(500, "model_calls", _n, _n, ERROR_BEFORE),
    "langchain-model-calls": Profile(None, "model_calls", _n, _n, BACK_BEFORE),
    "litellm-max-iterations": Profile(None, "model_calls", _n, _n, ERROR_BEFORE),
    "openai-agents": Profile(10, "model_calls", _n, _n, ERROR_BEFORE),
    "pydantic-ai": Profile(50, "model_calls", _n, _n, ERROR_BEFORE),
    "smolagents": Profile(20, "model_calls", _n_and_one, _n, REMOVED),
    "strict": Profile(10, "model_calls", _n, _n, ERROR_BEFORE),
    "vercel-ai": Profile(20, "model_calls", _n, _n, BACK_BEFORE),
}


@dataclass(frozen=True)
class Played:
    """How a loop is played."""

    id: str = "r"
    policy: str = ""  # named in each event
    parallel: int = 1
    chunks: bool = False  # each response in three chunks
    chunk: int = 0  # the number of the one chunk that is told
    text: bool = False
    first: int = 1


def _trace(profile: Profile, n: int | None, how: Played) -> Iterator[Step]:
    """Yield a whole loop with the limit n; None: there is none."""
    requests = how.first + OFF - 1 if n is None else profile.requests(n)
    run = requests if n is None else profile.turns(n)
    stop = Stop("", "") if n is None else profile.stop_at(n)
    for number in range(how.first, requests + 1):
        forced = stop.at == "forced" and number == requests
        yield _before(profile, n, how, number, *(_forced(profile, stop) if forced else _allowed()))
        if number > run:
            yield _rejected_response(profile, n, how, number, stop, "NONE" if forced else "ANY")
            return
        yield from _response(profile, n, how, number)
    if stop.at == "request":
        rejected = {"mode": "MODE_NONE"}, {"filled": ["decision.message"]}
        yield _before(profile, n, how, requests + 1, _rejected(profile, stop), *rejected)


Wanted = tuple[dict[str, Any], dict[str, Any], dict[str, list[str]]]  # the decision, the rest, and the lists beside


def _allowed() -> Wanted:
    decision = {"verdict": "VERDICT_ALLOW", "reason": "REASON_WITHIN_POLICY"}
    return decision, {"mode": "MODE_ANY"}, {"zero": ["decision.disposition", "drop_declarations"]}


def _forced(profile: Profile, stop: Stop) -> Wanted:
    decision = {"verdict": "VERDICT_FORCE_NONE", "reason": _reason(profile)}
    dropped = {"drop_declarations": True} if stop.removed else {}
    zero = ["decision.disposition"] if stop.removed else ["decision.disposition", "drop_declarations"]
    return decision, {"mode": "MODE_NONE", **dropped}, {"zero": zero, "filled": ["decision.model_hint"]}


def _rejected(profile: Profile, stop: Stop) -> dict[str, Any]:
    return {
        "verdict": "VERDICT_REJECT",
        "reason": _reason(profile),
        "disposition": f"DISPOSITION_{stop.disposition}",
    }


def _reason(profile: Profile) -> str:
    return "REASON_TURN_LIMIT" if profile.unit == "turns" else "REASON_MODEL_CALL_LIMIT"


def _before(
    profile: Profile,
    n: int | None,
    how: Played,
    number: int,
    decision: dict[str, Any],
    rest: dict[str, Any],
    lists: dict[str, list[str]],
) -> Step:
    sent = _sent(how, number)
    sent |= {"mode": "MODE_ANY", "enabled_tools": {"names": ["look"]}, "transcript": _seen(number)}
    want = {"decision": {**decision, "counters": _counters(profile, n, number - 1, number)}, **rest}
    return {"before_model": sent, "want": {"before_model": want, **lists}}


def _seen(number: int) -> dict[str, Any]:
    return {"turns_since_prompt": number - 1, "has_function_calls": True} if number > 1 else {}


def _response(profile: Profile, n: int | None, how: Played, number: int) -> Iterator[Step]:
    decision = {"verdict": "VERDICT_ALLOW", "reason": "REASON_WITHIN_POLICY"}
    decision |= {"counters": _counters(profile, n, number, number)}
    for sent in _chunks(how, number):
        ids = [call["id"] for call in sent.get("calls", ())]
        want: dict[str, Any] = {"decision": decision}
        if ids:
            want["calls"] = [{"call_id": id_, "run": True, "reason": "REASON_WITHIN_POLICY"} for id_ in ids]
        zero = ["decision.disposition", "calls.result_text"] if ids else ["decision.disposition", "calls"]
        yield {"after_model": sent, "want": {"after_model": want, "zero": zero}}


def _rejected_response(profile: Profile, n: int | None, how: Played, number: int, stop: Stop, mode: str) -> Step:
    sent = {**next(iter(_chunks(how, number))), "mode_sent": f"MODE_{mode}"}
    reason = _reason(profile)
    decision = _rejected(profile, stop) | {"counters": _counters(profile, n, number, number)}
    calls = [{"call_id": call["id"], "reason": reason} for call in sent["calls"]]
    want = {"decision": decision, "calls": calls}
    return {
        "after_model": sent,
        "want": {"after_model": want, "zero": ["calls.run"], "filled": ["calls.result_text", "decision.message"]},
    }


def _chunks(how: Played, number: int) -> list[dict[str, Any]]:
    """Return what is told of a response: the whole, or chunks."""
    calls = [
        {"id": f"c{number}.{index}", "name": "look", "args_json": _args(number, index)} for index in range(how.parallel)
    ]
    told = {**_sent(how, number), "mode_sent": "MODE_ANY", "turns_since_prompt": number - 1}
    end = {"finish_reason": "FINISH_REASON_STOP", "last": True}
    if how.chunks:
        return [
            {**told, "chunk": 1, "calls": calls[:1]},
            {**told, "chunk": 2, "calls": calls},
            {**told, "chunk": 4, "has_text": True, **end},
        ]
    whole = {**told, "calls": calls, **end, **({"has_text": True} if how.text else {})}
    return [{**whole, "chunk": how.chunk} if how.chunk else whole]


def _args(number: int, index: int) -> str:
    return json.dumps({"n": number, "i": index})


def _sent(how: Played, number: int) -> dict[str, Any]:
    return {"request_id": how.id, "model_call": number, **({"policy": how.policy} if how.policy else {})}


def _counters(profile: Profile, n: int | None, turns: int, model_calls: int) -> dict[str, Any]:
    told: dict[str, Any] = {name: count for name, count in (("turns", turns), ("model_calls", model_calls)) if count}
    if n is None:
        return {**told, "limit_off": True}
    return {**told, **({"limit": n} if n else {}), "unit": f"LIMIT_UNIT_{profile.unit.upper()}"}


# --- cases --------------------------------------------------------------------------------------------------------


def _under(name: str, profile: Profile, n: int) -> str:
    return f"policies: {{default: {{extends: {name}, limits: [{{unit: {profile.unit}, n: {n}}}]}}}}\n"


def _cases(name: str, profile: Profile) -> Iterator[dict[str, Any]]:
    yield _default(name, profile)
    for n in (0, 1, 3):
        yield _case(f"limit_{n}", _row(profile, n), _trace(profile, n, Played()), _under(name, profile, n))
    three = _under(name, profile, 3)
    parallel = _trace(profile, 3, Played(parallel=3))
    yield _case("parallel_calls", "Three calls in one response are one turn of one model call.", parallel, three)
    text = _trace(profile, 3, Played(text=True))
    yield _case("text_with_a_call", "A response with text and a call is a turn.", text, three)
    chunks = _trace(profile, 3, Played(chunks=True, parallel=2))
    doc = "A response in chunks, one of which repeats a call, is one turn; a rejected one is so from its first call on."
    yield _case("chunks", doc, chunks, three)
    doc = "A streamed response whose first chunk is text, which nobody asks about, and then has a call."
    yield _case("text_first_then_a_call", doc, _trace(profile, 3, Played(text=True, chunk=2)), three)
    one = _under(name, profile, 1)
    prompts = [*_trace(profile, 1, Played()), *_trace(profile, 1, Played(id="r2"))]
    yield _case("new_prompt", "A new prompt has a new request id, and starts at zero.", prompts, one)
    yield _case("empty_call_list", "A response without a call is no turn, and the end.", _empty(profile), three)


def _default(name: str, profile: Profile) -> dict[str, Any]:
    how, n = Played(policy=name), profile.default
    if n is None:
        doc = "Without a number there is no limit."
    elif n > LONG:
        how, doc = replace(how, first=n - 1), f"{_row(profile, n)} Taken up near its end."
    else:
        doc = _row(profile, n)
    return _case("limit_default", doc, _trace(profile, n, how))


def _row(profile: Profile, n: int) -> str:
    return f"With N = {n}: {profile.requests(n)} requests, {profile.turns(n)} turns run."


def _empty(profile: Profile) -> Iterator[Step]:
    yield _before(profile, 3, Played(), 1, *_allowed())
    sent = {"request_id": "r", "model_call": 1, "calls": [], "finish_reason": "FINISH_REASON_STOP", "has_text": True}
    decision = {"verdict": "VERDICT_ALLOW", "reason": "REASON_WITHIN_POLICY", "counters": {"model_calls": 1}}
    zero = ["calls", "decision.counters.turns", "decision.counters.function_calls"]
    yield {"after_model": sent, "want": {"after_model": {"decision": decision}, "zero": zero}}
    counters = {"counters": {"model_calls": 1}}
    end = {"request_id": "r", "outcome": "OUTCOME_COMPLETED"}
    yield {"end_request": end, "want": {"end_request": counters, "zero": ["counters.turns"]}}


def _case(name: str, doc: str, steps: Iterator[Step] | list[Step], policies: str = "") -> dict[str, Any]:
    return {"name": name, "doc": doc, **({"policies_yaml": policies} if policies else {}), "steps": list(steps)}


def text_of(name: str) -> str:
    """Return the file of a profile: a line for each step."""
    profile = TABLE[name]
    cases = []
    for case in _cases(name, profile):
        head = {key: value for key, value in case.items() if key != "steps"}
        lines = [f"      {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        steps = ",\n".join(f"        {json.dumps(step)}" for step in case["steps"])
        cases.append("\n".join(["    {", *lines, '      "steps": [', steps, "      ]", "    }"]))
    about = f"What a model that always calls comes to under the profile {name}."
    joined = ",\n".join(cases)
    title = name.replace("-", "_").replace(".", "_")
    return f'{{\n  "name": "{title}",\n  "description": {json.dumps(about)},\n  "cases": [\n{joined}\n  ]\n}}\n'


if __name__ == "__main__":
    for each in TABLE:
        (HERE / f"{each}.json").write_text(text_of(each), "utf-8")
