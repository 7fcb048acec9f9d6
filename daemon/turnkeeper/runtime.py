"""The composition root: builds everything, starts it, and stops it in order.

Law: this is the only place that constructs. The order of a stop is fixed: health NOT_SERVING, accept nothing,
finish what is in flight, hand over what is to be told until the deadline, exit; also with a dead collector.
"""

import asyncio
import contextlib
import gc
import json
import logging
import os
import secrets
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from turnkeeper import __version__
from turnkeeper.config import Settings, default_socket
from turnkeeper.core.policy import Policy
from turnkeeper.facts.feed import Feed
from turnkeeper.facts.meters import Meters
from turnkeeper.facts.records import PolicyRecord, Status
from turnkeeper.facts.sampling import Sampler, exports
from turnkeeper.policies import PolicyFile
from turnkeeper.server import listeners
from turnkeeper.server.account import Account
from turnkeeper.server.decider import Decider
from turnkeeper.server.front import Front
from turnkeeper.server.inspection import Inspection
from turnkeeper.server.listeners import Address, AddressInUseError
from turnkeeper.server.telling import Teller
from turnkeeper.server.watch import Watchers
from turnkeeper.v1 import turnkeeper_pb2 as pb
from turnkeeper.wire.fingerprint import KEY_BYTES
from turnkeeper.wire.plain import plain

log = logging.getLogger(__name__)

SWITCH_S = 0.001  # a thread that reads policies lets decisions go after this long
TICK_S = 1.0  # how often the policy file is looked at and idle ids are looked for


def steady_clock() -> Callable[[], int]:
    """Return a clock of nanoseconds since the epoch that no step of the wall clock moves.

    A step forward would forget live loops, one back would keep idle ones; what the clock is off by at the start
    it stays off by. Time asleep counts.
    """
    boot = time.CLOCK_BOOTTIME if hasattr(time, "CLOCK_BOOTTIME") else time.CLOCK_MONOTONIC
    offset_ns = time.time_ns() - time.clock_gettime_ns(boot)
    return lambda: offset_ns + time.clock_gettime_ns(boot)


class Daemon:
    """One daemon. ``await start()``, then ``await stop()``; ``clock_ns`` is wall time, replaceable in tests."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._clock_ns = clock_ns
        self._locks: list[IO[str]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._started_ns = clock_ns()
        self._reloading = asyncio.Lock()
        self.listen: list[str] = []
        self.admin = ""
        policies = settings.text("policies")
        self.policies = PolicyFile(Path(policies) if policies else None)
        self.meters = Meters()
        self.watchers = Watchers()

    async def start(self) -> None:
        """Claim the addresses, start the observer, and serve. Raises ``AddressError`` and ``AddressInUseError``."""
        addresses = [listeners.parse(text) for text in self._settings.texts("listen")]
        self._claim(addresses)
        self._build(self._bind_admin())
        await self._bind(addresses)
        await self.feed.start()
        await self.front.start()
        self._tell_policies("", "")
        self._tasks.append(asyncio.create_task(self._tick()))
        gc.collect()
        gc.freeze()

    def ready_line(self) -> str:
        """Return what is written to stdout once the daemon is ready."""
        ready = {"ready": True, "pid": os.getpid(), "listen": self.listen, "admin": self.admin, "version": __version__}
        return json.dumps(ready, separators=(",", ":"))

    async def stop(self) -> None:
        """Stop within the drain deadline."""
        deadline = time.monotonic() + self._settings.number("drain_s")
        for task in self._tasks:
            task.cancel()
        await self.front.drain()
        self.feed.status_changed()
        await self.front.stop(max(0.0, (deadline - time.monotonic()) / 2))
        await self.feed.stop(max(0.2, deadline - time.monotonic()))
        self._admin_socket.close()
        for lock in self._locks:
            lock.close()

    async def reload(self) -> None:
        """Read the policy file again; keep the last good one when it is bad.

        A large file takes seconds to read, so a thread reads it while decisions go on.
        """
        async with self._reloading:
            good = await asyncio.to_thread(self.policies.reload, self._clock_ns())
        if good:
            log.info("policies loaded", extra={"fields": {"policies": dict(self._versions())}})
            self.meters.add("policy_reloads", ("",))
            self._tell_policies("", "")
        elif self.policies.error:
            log.error("policies refused, the last good ones stay")
            for problem in self.policies.error.splitlines():
                log.error(problem)
            self.meters.add("policy_reloads", ("invalid_policy",))
            self._tell_policies(self.policies.error, "invalid_policy")

    def reload_soon(self) -> None:
        """Read the policy file again, whether it seems changed or not."""
        self._tasks.append(asyncio.ensure_future(self.reload()))
        self._tasks = [task for task in self._tasks if not task.done()]

    def status(self) -> pb.GetStatusResponse:
        """Return what GetStatus answers."""
        message = pb.GetStatusResponse(
            version=__version__,
            policies=[
                pb.PolicyStatus(name=policy.name, version=policy.version, enforcement=policy.enforcement.value)
                for policy in self._own_policies()
            ],
            policy_error=self.policies.error,
            live_requests=self.meters.level("active"),
            store=self.decider.store.url,
            draining=self.front.stopping,
            listen=self.listen,
            admin=self.admin,
            observer=pb.ObserverStatus(
                running=self.feed.running,
                restarts=self.feed.restarts,
                facts_offered=self.feed.offered,
                facts_dropped=self.feed.dropped,
                export_failures=self.feed.export_failures,
            ),
            decisions=self.meters.total("decisions"),
        )
        message.policy_loaded_at.FromNanoseconds(self.policies.loaded_at_ns or self._started_ns)
        message.started_at.FromNanoseconds(self._started_ns)
        if self.policies.error:
            message.policy_error_since.FromNanoseconds(self.policies.error_since_ns)
        return message

    # --- parts ------------------------------------------------------------------------------------------------

    def _build(self, admin_socket: socket.socket) -> None:
        environ = {**self._environ, "TURNKEEPER_EVENTS": self._settings.text("events")}
        environ["TURNKEEPER_LOG_FORMAT"] = self._settings.text("log_format")
        environ["TURNKEEPER_LOG_LEVEL"] = self._settings.text("log_level")
        self.feed = Feed(
            self.meters,
            version=__version__,
            started_ns=self._started_ns,
            instance_id=self._instance_id(),
            admin_socket=admin_socket,
            status=self._observer_status,
            environ=environ,
            clock_ns=self._clock_ns,
        )
        sampler = Sampler(environ) if exports(environ) else None
        teller = Teller(self.feed, sampler.keep if sampler else None, self.watchers)
        ids_max = int(self._settings.number("ids_max"))
        key = secrets.token_bytes(KEY_BYTES)
        account = Account(self.meters, teller, self._clock_ns)
        self.decider = Decider(self.policies, ids_max, account, self._clock_ns, key)
        inspection = Inspection(self.decider.store, self.policies, self.watchers, self.status)
        self.front = Front(self.decider, inspection, teller, self.meters)

    def _bind_admin(self) -> socket.socket:
        server = listeners.bind_admin(listeners.parse(self._settings.text("admin")))
        host, port = server.getsockname()[:2]
        self.admin = str(Address("", host, port))
        self._admin_socket = server  # kept open: connections wait in it while the observer is started again
        return server

    def _claim(self, addresses: list[Address]) -> None:
        private = default_socket(self._environ)
        for address in addresses:
            if address.path:
                self._locks.append(listeners.claim_socket(address.path, private=str(address) == private))

    async def _bind(self, addresses: list[Address]) -> None:
        for address in addresses:
            umask = os.umask(listeners.SOCKET_UMASK)
            try:
                port = self.front.server.add_insecure_port(address.target)
            except RuntimeError:
                msg = f"{address}: in use by another program; choose another address with --listen"
                raise AddressInUseError(msg) from None
            finally:
                os.umask(umask)
            self.listen.append(str(address if address.path else address._replace(port=port)))

    def _instance_id(self) -> str:
        """Name this instance so that a restart goes on with the same series."""
        pod = self._environ.get("POD_NAME") or self._environ.get("HOSTNAME") or socket.gethostname()
        where = ",".join(self._settings.texts("listen"))
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"turnkeeper://{pod}/{where}"))

    def _observer_status(self) -> Status:
        body = plain(self.status())
        ready = not self.front.stopping
        return Status(self._clock_ns(), ready, "" if ready else "the daemon is stopping", json.dumps(body))

    def _tell_policies(self, error: str, error_type: str) -> None:
        for policy in self._own_policies():
            if not (policy.active_limits or policy.budgets or policy.deny):
                log.warning("a policy without a limit stops no loop", extra={"fields": {"policy": policy.name}})
        record = PolicyRecord(self.feed.take_seq(), self._clock_ns(), self._versions(), error, error_type)
        self.feed.offer(record)

    def _own_policies(self) -> list[Policy]:
        """Return the default and those of the file; the shipped ones are always the same."""
        current = self.policies.current
        return [current.policies[name] for name in current.own]

    def _versions(self) -> tuple[tuple[str, str], ...]:
        return tuple((policy.name, policy.version) for policy in self._own_policies())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            try:
                if self.policies.changed():
                    await self.reload()
                while self.decider.expire():  # noqa: ASYNC110 - a slice, then decisions, then the next slice
                    await asyncio.sleep(0)
            except Exception:
                log.exception("a background task failed; it goes on")


async def serve(settings: Settings, environ: Mapping[str, str]) -> None:
    """Run a daemon until SIGTERM or SIGINT."""
    sys.setswitchinterval(SWITCH_S)
    daemon = Daemon(settings, environ, steady_clock())
    await daemon.start()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, daemon.reload_soon)
    sys.stdout.write(daemon.ready_line() + "\n")
    sys.stdout.flush()
    log.info("ready", extra={"fields": {"listen": daemon.listen, "admin": daemon.admin}})
    demo = asyncio.create_task(_demo(daemon)) if settings["demo"].value else None
    await stop.wait()
    log.info("stopping")
    if demo is not None:
        demo.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await demo
    await daemon.stop()
    log.info("stopped")


async def _demo(daemon: Daemon) -> None:
    """Play the demo in a process of its own, on this terminal."""
    command = (sys.executable, "-m", "turnkeeper", "demo", "--address", daemon.listen[0])
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr)
    try:
        await process.wait()
        sys.stderr.write(_after_demo(daemon))
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def _after_demo(daemon: Daemon) -> str:
    return (
        f"\nThe daemon goes on serving on {' and '.join(daemon.listen)}.\n"
        f"  metrics   curl http://{daemon.admin}/metrics\n"
        f"  status    curl http://{daemon.admin}/status   or   .venv/bin/turnkeeper status\n"
        "  watch     .venv/bin/turnkeeper tail\n"
        "  demo      .venv/bin/turnkeeper demo --address " + daemon.listen[-1] + "\n"
        "Ctrl-C ends it.\n"
    )
