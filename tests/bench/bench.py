"""``make bench``: what a decision costs, as ratios within one run.

Law: figures of one run are compared with each other only. Rounds alternate between the servers; a figure is the
median of its rounds. One JSON line a figure goes to ``build/bench.jsonl``, a table to stdout. Nothing is asserted.
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from daemon_process import Daemon  # noqa: E402

from turnkeeper.core.engine import step  # noqa: E402
from turnkeeper.core.events import AfterModel, BeforeModel, Call  # noqa: E402
from turnkeeper.core.model import Mode  # noqa: E402
from turnkeeper.core.state import State  # noqa: E402
from turnkeeper.policies import load  # noqa: E402
from turnkeeper.v1 import turnkeeper_pb2 as pb  # noqa: E402
from turnkeeper.wire import decode, encode  # noqa: E402

DEAD = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}  # the discard port: refused


def figure(name: str, **values: Any) -> dict[str, Any]:
    """Return one line."""
    return {"figure": name, **values}


def timed(work: Callable[[], None], times: int) -> float:
    """Return microseconds a time, the median of five rounds."""
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(times):
            work()
        rounds.append((time.perf_counter() - started) / times * 1e6)
    return statistics.median(rounds)


def in_process(times: int) -> list[dict[str, Any]]:
    """Cost of a step, and of the wire around it, without RPC."""
    policy = load(None).policies["default"]
    tools = tuple(f"tool_{n}" for n in range(8))

    def loop(calls: int) -> Callable[[], None]:
        before = [BeforeModel("r", k, mode=Mode.AUTO, enabled_tools=tools) for k in range(1, 11)]
        after = [
            AfterModel("r", k, calls=tuple(Call(f"{k}.{n}", tools[n % 8], b"12345678") for n in range(calls)))
            for k in range(1, 11)
        ]

        def run() -> None:
            state: State | None = None
            for asked, answered in zip(before, after, strict=True):
                state = step(state, asked, policy, 1).state
                state = step(state, answered, policy, 1).state

        return run

    request = pb.AfterModelRequest(
        request_id="r", model_call=1, calls=[pb.FunctionCall(id="a", name="tool_1", args_json='{"q": 1}')]
    ).SerializeToString()
    state = step(None, BeforeModel("r", 1), policy, 1).state
    answer = step(state, decode.after_model(request, key=b"k" * 32), policy, 1).answer
    return [
        figure("step, 1 call a turn", us=timed(loop(1), times) / 20),
        figure("step, 8 calls a turn", us=timed(loop(8), times) / 20),
        figure("decode AfterModel", us=timed(lambda: decode.after_model(request, key=b"k" * 32) and None, times * 20)),
        figure("encode AfterModel", us=timed(lambda: encode.after_model(answer) and None, times * 20)),  # type: ignore[arg-type]
    ]


def percentiles(samples: list[float]) -> dict[str, float]:
    """Return microseconds."""
    ordered = sorted(samples)
    at = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
    return {name: ordered[min(len(ordered) - 1, int(len(ordered) * part))] for name, part in at.items()}


def closed_loop(target: str, method: str, requests: list[bytes]) -> list[float]:
    """Send one after the other; return microseconds each."""
    options = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))
    samples = []
    with grpc.insecure_channel(target, options=options) as channel:
        call = channel.unary_unary(method)
        for request in requests[:50]:
            call(request)
        for request in requests[50:]:
            started = time.perf_counter()
            call(request)
            samples.append((time.perf_counter() - started) * 1e6)
    return samples


def over_grpc(calls: int, rounds: int) -> list[dict[str, Any]]:
    """Latency of a decision beside a bare echo, one in flight, rounds alternating."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        command = [sys.executable, str(Path(__file__).parent / "echo.py"), f"{path}/echo.sock"]
        echo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert echo.stdout is not None
        port = echo.stdout.readline().strip()
        started = time.perf_counter()
        plain = Daemon.start(path / "plain", env={"OTEL_SDK_DISABLED": "true"})
        start_ms = (time.perf_counter() - started) * 1e3
        dead = Daemon.start(path / "dead", env=DEAD)
        targets = {
            "echo, tcp": (f"127.0.0.1:{port}", "/bench.Echo/Call"),
            "echo, socket": (f"unix:{path}/echo.sock", "/bench.Echo/Call"),
            "decision, tcp": (plain.address_tcp, "/turnkeeper.v1.TurnKeeper/BeforeModel"),
            "decision, socket": (f"unix:{plain.address_unix[7:]}", "/turnkeeper.v1.TurnKeeper/BeforeModel"),
            "decision, tcp, dead collector": (dead.address_tcp, "/turnkeeper.v1.TurnKeeper/BeforeModel"),
        }
        samples: dict[str, list[dict[str, float]]] = {name: [] for name in targets}
        try:
            for turn in range(rounds):
                for name, (target, method) in targets.items():
                    requests = [
                        pb.BeforeModelRequest(request_id=f"{turn}-{n // 8}", model_call=1 + n % 8).SerializeToString()
                        for n in range(calls + 50)
                    ]
                    samples[name].append(percentiles(closed_loop(target, method, requests)))
        finally:
            echo.kill()
            plain.stop()
            dead.stop()
    found = {name: {p: statistics.median(one[p] for one in many) for p in many[0]} for name, many in samples.items()}
    lines = [figure("start to ready", ms=start_ms)]
    for name, values in found.items():
        base = found["echo, socket" if "socket" in name else "echo, tcp"]
        lines.append(
            figure(name, us=values, ratio_p50=values["p50"] / base["p50"], ratio_p99=values["p99"] / base["p99"])
        )
    return lines


def main() -> None:
    """Run all, or a smoke of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="few rounds: shows that it runs, measures nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench.jsonl", help="where the JSON lines go")
    given = parser.parse_args()
    smoke = given.smoke
    lines = in_process(5 if smoke else 300) + over_grpc(100 if smoke else 3000, 1 if smoke else 5)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    about = {"commit": commit.stdout.strip(), "python": platform.python_version(), "cpu": platform.processor()}
    given.out.parent.mkdir(exist_ok=True)
    with given.out.open("a") as file:
        for line in lines:
            file.write(json.dumps({**about, "time": int(time.time()), **line}) + "\n")
    for line in lines:
        values = line.get("us", line.get("ms"))
        unit = "µs" if "us" in line else "ms"
        text = "  ".join(f"{k} {v:.0f}" for k, v in values.items()) if isinstance(values, dict) else f"{values:.1f}"
        ratio = (
            f"   {line['ratio_p50']:.2f}× echo at p50, {line['ratio_p99']:.2f}× at p99" if "ratio_p50" in line else ""
        )
        sys.stdout.write(f"{line['figure']:<32} {text} {unit}{ratio}\n")


if __name__ == "__main__":
    main()
