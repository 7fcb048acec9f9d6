"""A real OpenTelemetry Collector as a child process, on free loopback ports.

``Collector.start(tmp_path)`` returns when its health check answers. What it received is read from the files that
its file exporters write; ``prometheus_url`` is its Prometheus exporter.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BINARY = Path(__file__).resolve().parents[1] / ".tools" / "bin" / "otelcol-tk"
MISSING = f"not run: no Collector at {BINARY.name}, it is built by `make tools`"
START_S = 20.0
STOP_S = 10.0
WRITTEN_S = 10.0

_CONFIG = """
receivers:
  otlp: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{grpc}"}}, http: {{endpoint: "127.0.0.1:{http}"}}}}}}
exporters:
  file/traces: {{path: "{out}/traces.jsonl", append: true, flush_interval: 50ms}}
  file/metrics: {{path: "{out}/metrics.jsonl", append: true, flush_interval: 50ms}}
  file/logs: {{path: "{out}/logs.jsonl", append: true, flush_interval: 50ms}}
  prometheus: {{endpoint: "127.0.0.1:{prometheus}", enable_open_metrics: true}}
extensions:
  health_check: {{endpoint: "127.0.0.1:{health}"}}
service:
  extensions: [health_check]
  telemetry: {{metrics: {{level: none}}, logs: {{level: warn}}}}
  pipelines:
    traces: {{receivers: [otlp], exporters: [file/traces]}}
    metrics: {{receivers: [otlp], exporters: [file/metrics, prometheus]}}
    logs: {{receivers: [otlp], exporters: [file/logs]}}
"""


class Collector:
    """One Collector; ``restart`` starts another one on the same ports, which goes on writing the same files."""

    def __init__(self, out: Path, ports: dict[str, int]) -> None:
        self._out = out
        self._ports = ports
        self.otlp_grpc = f"http://127.0.0.1:{ports['grpc']}"
        self.otlp_http = f"http://127.0.0.1:{ports['http']}"
        self.prometheus_url = f"http://127.0.0.1:{ports['prometheus']}/metrics"
        self.process = self._launch()

    @classmethod
    def start(cls, tmp_path: Path) -> "Collector":
        """Start one that writes below ``tmp_path``."""
        out = tmp_path / "collector"
        out.mkdir(parents=True, exist_ok=True)
        collector = cls(out, _free_ports("grpc", "http", "prometheus", "health"))
        collector.wait_ready()
        return collector

    @classmethod
    @contextlib.contextmanager
    def running(cls, tmp_path: Path) -> Iterator["Collector"]:
        """Start one, and end it in any case."""
        collector = cls.start(tmp_path)
        try:
            yield collector
        finally:
            collector.stop()

    def wait_ready(self) -> None:
        """Wait until the health check answers."""
        url = f"http://127.0.0.1:{self._ports['health']}/"
        end = time.monotonic() + START_S
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=1):
                return
            time.sleep(0.02)
        message = f"the Collector was not ready (exit code {self.process.poll()}):\n{self._log.read_text()}"
        self.stop()
        raise AssertionError(message)

    def stop(self) -> None:
        """End it, also when it is paused."""
        self.resume()
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(STOP_S)

    def restart(self) -> None:
        """Start it again after ``stop``, on the same ports."""
        self.process = self._launch()
        self.wait_ready()

    def pause(self) -> None:
        """Stop the process: its ports accept and never answer."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused one go on."""
        self.process.send_signal(signal.SIGCONT)

    def spans(self, at_least: int = 0) -> list[dict[str, Any]]:
        """Every span received, with ``resource`` and plain ``attributes``; waits for so many to be written."""
        return self._wait(at_least, "traces", "resourceSpans", "scopeSpans", "spans")

    def logs(self, at_least: int = 0) -> list[dict[str, Any]]:
        """Every log record received, with ``resource`` and plain ``attributes``; waits likewise."""
        return self._wait(at_least, "logs", "resourceLogs", "scopeLogs", "logRecords")

    def metrics(self, at_least: int = 0) -> list[dict[str, Any]]:
        """Every metric of every export received, oldest first, with ``resource``; waits likewise."""
        return self._wait(at_least, "metrics", "resourceMetrics", "scopeMetrics", "metrics")

    def scrape(self) -> str:
        """What its Prometheus exporter shows, as OpenMetrics."""
        request = urllib.request.Request(self.prometheus_url, headers={"Accept": "application/openmetrics-text"})
        with urllib.request.urlopen(request, timeout=5) as response:
            return str(response.read().decode())

    @property
    def _log(self) -> Path:
        return self._out / "collector.log"

    def _launch(self) -> subprocess.Popen[bytes]:
        config = self._out / "config.yaml"
        config.write_text(_CONFIG.format(out=self._out, **self._ports))
        environment = {"PATH": os.environ.get("PATH", "")}
        with self._log.open("ab") as log:
            return subprocess.Popen([BINARY, "--config", config], stdout=log, stderr=log, env=environment)

    def _wait(self, at_least: int, name: str, *levels: str) -> list[dict[str, Any]]:
        end = time.monotonic() + WRITTEN_S
        while len(items := self._read(name, *levels)) < at_least and time.monotonic() < end:
            time.sleep(0.02)
        return items

    def _read(self, name: str, *levels: str) -> list[dict[str, Any]]:
        path = self._out / f"{name}.jsonl"
        if not path.exists():
            return []
        lines = path.read_text().split("\n")[:-1]  # the last is empty, or not written whole
        return [item for line in lines for item in _items(json.loads(line), levels)]


def _items(batch: dict[str, Any], levels: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    resources, scopes, items = levels
    for of_resource in batch[resources]:
        resource = attributes(of_resource["resource"])
        for of_scope in of_resource[scopes]:
            for item in of_scope[items]:
                yield {**item, "attributes": attributes(item), "resource": resource}


def attributes(item: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, log record, point or resource as plain values."""
    return {entry["key"]: _plain(entry["value"]) for entry in item.get("attributes", ())}


def _plain(value: dict[str, Any]) -> object:
    ((kind, plain),) = value.items()
    return int(plain) if kind == "intValue" else plain


def _free_ports(*names: str) -> dict[str, int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in names]
        return {name: sock.getsockname()[1] for name, sock in zip(names, sockets, strict=True)}
