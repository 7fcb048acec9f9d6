"""Loop rules of other systems, written from what is published of them, to be compared with ours on the same runs.

A rule looks at the turns of one prompt and returns the index of the first turn that it keeps from being run; the number
of turns, when it would act after the last. Where a system first nudges the model and stops later, the first nudge of a
rule that has no other effect is not a stop, unless it says so below.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Call(NamedTuple):
    name: str
    raw: str  # name and arguments, in the order the model gave them
    key: str  # the same with sorted keys
    result: str
    failed: bool


Prompt = list[list[Call]]
Rule = Callable[[Prompt], int | None]


def prompts(run: dict[str, Any]) -> Iterator[Prompt]:
    """Return the calls of each prompt, by turn."""
    for prompt in run["prompts"]:
        yield [
            [_call(call, turn["results"], index) for index, call in enumerate(turn["calls"])]
            for turn in prompt["turns"]
        ]


def _call(call: dict[str, Any], results: list[dict[str, Any]], index: int) -> Call:
    result: dict[str, Any] = next((each for each in results if each["call"] == index), {})
    try:
        args = json.loads(call["args"])
    except ValueError:
        args = call["args"]
    name = call["name"]
    raw, key = (f"{name}:{json.dumps(args, sort_keys=by_name)}" for by_name in (False, True))
    return Call(name, raw, key, result.get("digest", ""), bool(result.get("error")))


def _told(prompt: Prompt) -> Iterator[tuple[int, Call]]:
    for index, turn in enumerate(prompt):
        for call in turn:
            yield index, call


def same_call_twice(prompt: Prompt) -> int | None:
    """Stop at once when a call is the one before it again, whatever it returned."""
    last = ""
    for index, call in _told(prompt):
        if call.key == last:
            return index
        last = call.key
    return None


def gemini_cli(prompt: Prompt) -> int | None:
    """Stop when the last 5 k calls are five times the last k, k = 1 to 5, among the last 25; results do not count.

    The first detection is taken as the stop, though it only tells the model and the second stops.
    """
    keys: list[str] = []
    for index, call in _told(prompt):
        keys = [*keys, call.raw][-25:]
        if any(len(keys) >= 5 * k and keys[-5 * k :] == keys[-k:] * 5 for k in range(1, 6)):
            return index
    return None


def qwen_code(prompt: Prompt) -> int | None:
    """Stop at the fifth equal call in a row; beyond 100 calls, when one of them was made six times."""
    made: Counter[str] = Counter()
    last, streak = "", 0
    for index, call in _told(prompt):
        streak = streak + 1 if call.raw == last else 1
        last = call.raw
        made[call.raw] += 1
        if streak >= 5 or (made.total() > 100 and max(made.values()) >= 6):
            return index
    return None


def openhands(prompt: Prompt) -> int | None:
    """Stop after four equal pairs of call and result, four equal calls that fail, or six pairs that alternate.

    The text beside a call, which belongs to its identity there, is not recorded and left out, to its advantage.
    """
    pairs: list[Call] = []
    for index, turn in enumerate(prompt):
        pairs = [*pairs, *turn][-10:]
        newest = pairs[-4:]
        unchanged = len({call.result for call in newest}) == 1 or all(call.failed for call in newest)
        if len(newest) == 4 and len({call.key for call in newest}) == 1 and unchanged:
            return index + 1
        six = [(call.key, call.result) for call in pairs[-6:]]
        if len(six) == 6 and all(six[at] == six[at + 2] for at in range(4)):
            return index + 1
    return None


def hermes(prompt: Prompt) -> int | None:
    """Stop before the sixth call that failed or brought nothing new five times, after a tool failed eight times running,
    at the fifth equal call in a row, and at the fifth lap of a cycle of 2 to 4 calls.

    Which tools change something or poll is not known, so no call resets a count and none is exempt.
    """
    failed: Counter[str] = Counter()
    of_tool: Counter[str] = Counter()
    unchanged: dict[str, tuple[str, int]] = {}
    keys: list[str] = []
    for index, call in _told(prompt):
        keys.append(call.key)
        if failed[call.key] >= 5 or unchanged.get(call.key, ("", 0))[1] >= 5 or max(of_tool.values(), default=0) >= 8:
            return index
        if any(len(keys) >= 5 * k and keys[-5 * k :] == keys[-k:] * 5 for k in range(1, 5)):
            return index
        failed[call.key] = failed[call.key] + 1 if call.failed else 0
        of_tool[call.name] = of_tool[call.name] + 1 if call.failed else 0
        result, times = unchanged.get(call.key, ("", 0))
        unchanged[call.key] = (call.result, times + 1 if result == call.result else 1)
    return None


RULES: dict[str, Rule] = {
    "same call twice in a row": same_call_twice,
    "gemini-cli": gemini_cli,
    "qwen-code": qwen_code,
    "OpenHands": openhands,
    "hermes": hermes,
}
