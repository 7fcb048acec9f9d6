"""What every Python runner does: read a case a line, run it, write what came of it a line."""

import asyncio
import inspect
import json
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

os.environ.update(GOOGLE_API_KEY="scripted", OPENAI_API_KEY="scripted", OTEL_SDK_DISABLED="true")
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


@dataclass
class Case:
    """One case, and what is seen of it."""

    api: str
    limit: int | None
    stream: bool
    parallel: int
    base_url: str
    ran: list = field(default_factory=list)

    @property
    def look(self) -> Callable[[str, str], str]:
        """Give the function that is called: a plain one, since some SDKs copy what they are given."""
        ran = self.ran

        def look(n: str, i: str) -> str:
            """Look something up.

            Args:
                n: which one
                i: which part
            """
            ran.append([int(n), int(i)])
            return f"found {n}.{i}"

        return look

    def limit_as(self, name: str) -> dict:
        """Give the limit as a keyword argument; none for the SDK's default."""
        return {} if self.limit is None else {name: self.limit}


@dataclass
class Returned:
    """What the SDK gave back: its text, and the request numbers of the calls in it."""

    text: str = ""
    calls: Iterable[Any] = ()


Outcome = Returned | Awaitable[Returned]


def serve(package: str, run: Callable[[Case], Outcome]) -> None:
    """Run cases until the input ends. What the SDK prints goes nowhere."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for line in sys.stdin:
        case = Case(**json.loads(line))
        told: dict = {"version": version(package), "calls": [], "text": "", "error": None}
        try:
            outcome = run(case)
            returned = loop.run_until_complete(outcome) if inspect.isawaitable(outcome) else outcome
            told.update(text=returned.text or "", calls=sorted({int(n) for n in returned.calls}))
        except Exception as error:  # noqa: BLE001 - an error is a way to end
            told.update(error=type(error).__name__, message=str(error)[:300])
        print(json.dumps({**told, "ran": case.ran}), file=out, flush=True)
