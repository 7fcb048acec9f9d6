"""A daemon that dies under a loop of the real SDK: what comes back is decided right, and what was alone is counted."""

from pathlib import Path
from typing import Any

import pytest
from daemon_process import Daemon
from genai_looping import MODEL, PROMPT
from google import genai
from google.genai import types

from turnkeeper.demo.model import FakeModel
from turnkeeper.demo.script import load
from turnkeeper_client import FunctionCall, Mode, Reason, ToolLoopRejected, TurnKeeper, Verdict
from turnkeeper_client.google_genai import guard

CALL = [FunctionCall("c", "get_weather", "{}")]


def test_a_call_under_none_is_rejected_by_a_daemon_that_knows_nothing_of_it(tmp_path: Path) -> None:
    daemon = Daemon.start(tmp_path)
    with TurnKeeper(address=daemon.address_unix, deadline_ms=5000) as keeper:
        for number in range(1, 11):
            keeper.before_model("r1", model_call=number, mode=Mode.ANY)
            keeper.after_model("r1", model_call=number, calls=CALL, mode_sent=Mode.ANY)
        forced = keeper.before_model("r1", model_call=11, mode=Mode.ANY, turns_since_prompt=10)
        assert (forced.verdict, forced.mode) == (Verdict.FORCE_NONE, Mode.NONE)
        daemon.kill()
        daemon = daemon.restart()
        try:
            after = keeper.after_model("r1", model_call=11, calls=CALL, mode_sent=forced.mode, turns_since_prompt=10)
        finally:
            daemon.stop()
    assert (after.verdict, after.reason, after.fallback_code) == (Verdict.REJECT, Reason.TURN_LIMIT, None)


@pytest.mark.parametrize("back", [True, False], ids=["restarted", "gone"])
def test_the_limit_holds_over_the_death_of_the_daemon(tmp_path: Path, *, back: bool) -> None:
    runs: list[str] = []
    daemons = [Daemon.start(tmp_path)]

    def get_weather(city: str, day: str) -> str:
        """Return the weather of a city on a day."""
        runs.append(f"{city} {day}")
        if len(runs) == 4:
            daemons[-1].kill()
        if len(runs) == 6 and back:
            daemons.append(daemons[-1].restart())
        return "sunny"

    any_mode = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
    config: Any = {"tools": [get_weather], "tool_config": {"function_calling_config": any_mode}}
    with FakeModel(load("stubborn")) as model, TurnKeeper(address=daemons[0].address_unix, deadline_ms=5000) as keeper:
        client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=model.url))
        with pytest.raises(ToolLoopRejected) as caught:
            guard(client, keeper).models.generate_content(model=MODEL, contents=PROMPT, config=config)
        assert [asked["mode"] for asked in model.requests] == ["ANY"] * 10 + ["NONE"]
    assert (len(runs), caught.value.reason, caught.value.counters.turns) == (10, Reason.TURN_LIMIT, 11)
    assert (caught.value.decision.fallback_code is None) is back
    daemons[-1].stop()
