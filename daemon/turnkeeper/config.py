"""Options: one table that is flags, environment, config file and documentation at once.

Law: an option is one row of ``OPTIONS``. Precedence is flag, then ``TURNKEEPER_<NAME>``, then the config file,
then the default. Every problem of the file and the environment is told at once, each with its place.
"""

import difflib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from turnkeeper import logs
from turnkeeper.policies.yaml_nodes import YamlError, compose, plain, position
from turnkeeper.server import listeners

Value = str | int | float | bool | tuple[str, ...]
ENV_PREFIX = "TURNKEEPER_"


class OptionError(ValueError):
    """A value that an option does not take; the text names the value and what is allowed."""


class Option(NamedTuple):
    """One option. ``parse`` takes text and raises ``OptionError``; ``many`` takes a list."""

    name: str
    metavar: str
    default: Value
    parse: Callable[[str], Value]
    help: str
    many: bool = False
    shown_default: str = ""

    @property
    def flag(self) -> str:
        """Return the flag as it is typed."""
        return "--" + self.name.replace("_", "-")

    @property
    def env(self) -> str:
        """Return the environment variable."""
        return ENV_PREFIX + self.name.upper()


class Setting(NamedTuple):
    """An option's value and where it came from."""

    option: Option
    value: Value
    source: str


class Settings(dict[str, Setting]):
    """Every option by name, and its value by kind."""

    def text(self, name: str) -> str:
        """Return the value of an option that takes text."""
        return str(self[name].value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values of an option that may be given more than once."""
        value = self[name].value
        assert isinstance(value, tuple)
        return value

    def number(self, name: str) -> float:
        """Return the value of an option that takes a number."""
        value = self[name].value
        assert isinstance(value, int | float)
        return value


class Problem(NamedTuple):
    """A value that cannot be used, and its place: ``file:line:column``, or the variable's name."""

    place: str
    text: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.place}: {self.text}"


class ConfigError(Exception):
    """Everything that is wrong with the configuration."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def _text(value: str) -> str:
    return value


def _one_of(*allowed: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in allowed:
            msg = f"{value!r}, allowed: {', '.join(allowed)}"
            raise OptionError(msg)
        return value

    return parse


def _number(least: float, most: float, unit: str, kind: type[int] | type[float]) -> Callable[[str], Value]:
    def parse(value: str) -> Value:
        try:
            number = kind(value)
        except ValueError:
            number = kind(least) - 1
        if not least <= number <= most:
            msg = f"{value!r}, allowed: a number of {unit} from {least:g} to {most:g}"
            raise OptionError(msg)
        return number

    return parse


def _flag(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        msg = f"{value!r}, allowed: true, false"
        raise OptionError(msg)
    return value.lower() == "true"


def _store(value: str) -> str:
    if value != "memory:":
        msg = f"{value!r}, allowed: memory:"
        raise OptionError(msg)
    return value


def _admin_address(value: str) -> str:
    try:
        listeners.parse(value)
    except listeners.AddressError as error:
        raise OptionError(str(error)) from None
    return value


def _listen_address(value: str) -> str:
    try:
        address = listeners.parse(value)
        if not address.path:
            listeners.require_loopback(address)
    except listeners.AddressError as error:
        raise OptionError(str(error)) from None
    return value


def default_socket(environ: Mapping[str, str]) -> str:
    """Return the default socket address."""
    base = environ.get("XDG_RUNTIME_DIR")
    directory = f"{base}/turnkeeper" if base else f"/tmp/turnkeeper-{os.getuid()}"  # noqa: S108 - 0700, owner checked
    return f"unix://{directory}/turnkeeper.sock"


OPTIONS = (
    Option("policies", "FILE", "", _text, "Policy file. Without it the embedded default policy: 10 turns."),
    Option(
        "listen",
        "ADDR",
        (),
        _listen_address,
        "Address to serve: unix:///path or a loopback HOST:PORT; port 0 takes a free one. May be given more than once.",
        many=True,
        shown_default="unix://$XDG_RUNTIME_DIR/turnkeeper/turnkeeper.sock and 127.0.0.1:7310",
    ),
    Option("admin", "ADDR", "127.0.0.1:7311", _admin_address, "Address of /livez, /readyz, /metrics and /status."),
    Option("store", "URL", "memory:", _store, "Where counters are kept: memory: is this process."),
    Option("log_format", "FORMAT", "console", _one_of(*logs.FORMATS), "Form of log lines: console or json."),
    Option("log_level", "LEVEL", "info", _one_of(*logs.LEVELS), "Least level of log lines that are written."),
    Option(
        "ids_max", "N", 100_000, _number(1, 10_000_000, "ids", int), "Live request ids; over it the longest idle goes."
    ),
    Option("drain_s", "SECONDS", 5.0, _number(0, 3600, "seconds", float), "Longest time from SIGTERM to the end."),
    Option("events", "WHERE", "logs", _one_of("logs", "span", "both"), "Where events go: logs, span or both."),
    Option("demo", "", False, _flag, "Play the demo against this daemon once it is ready, then go on serving."),  # noqa: FBT003 - the default of a flag
)
BY_NAME = {option.name: option for option in OPTIONS}


def load(flags: Mapping[str, object], environ: Mapping[str, str], file: str) -> Settings:
    """Return the setting of every option. ``flags`` holds what was given. Raises ``ConfigError``."""
    problems: list[Problem] = []
    from_file = _read(Path(file), problems) if file else {}
    settings = Settings()
    for option in OPTIONS:
        given = flags.get(option.name)
        if given is not None and given != ():
            settings[option.name] = _from_texts(option, given, f"flag {option.flag}", problems)
        elif environ.get(option.env):
            texts = environ[option.env].split(",") if option.many else environ[option.env]
            settings[option.name] = _from_texts(option, texts, f"environment {option.env}", problems)
        elif option.name in from_file:
            settings[option.name] = from_file[option.name]
        else:
            settings[option.name] = Setting(option, _default(option, environ), "default")
    if problems:
        raise ConfigError(problems)
    return settings


def check_file(path: Path) -> list[tuple[str, int, int, str]]:
    """Return every problem of a config file as (file, line, column, text)."""
    problems: list[Problem] = []
    _read(path, problems)
    found = []
    for problem in problems:
        file, _, rest = problem.place.rpartition(":")[0].rpartition(":")
        found.append((file, int(rest), int(problem.place.rpartition(":")[2]), problem.text))
    return found


def _default(option: Option, environ: Mapping[str, str]) -> Value:
    if option.name == "listen":
        return (default_socket(environ), "127.0.0.1:7310")
    return option.default


def _from_texts(option: Option, given: object, source: str, problems: list[Problem]) -> Setting:
    texts = [str(text).strip() for text in given] if isinstance(given, (list, tuple)) else [str(given)]
    values = []
    for text in texts:
        try:
            values.append(option.parse(text))
        except OptionError as error:
            problems.append(Problem(source, str(error)))
    if option.many:
        return Setting(option, tuple(str(value) for value in values), source)
    return Setting(option, values[0] if values else option.default, source)


def _read(path: Path, problems: list[Problem]) -> dict[str, Setting]:
    """Read the config file: a map of option names."""
    try:
        root = compose(path.read_bytes(), str(path))
    except OSError as error:
        problems.append(Problem(f"{path}:1:1", f"cannot be read: {error.strerror}"))
        return {}
    except YamlError as error:
        problems += [Problem(f"{p.file}:{p.line}:{p.column}", p.text) for p in error.problems]
        return {}
    content = plain(root)
    if content is None:
        return {}
    if not isinstance(content, dict):
        problems.append(Problem(f"{path}:1:1", "not a map of options"))
        return {}
    settings = {}
    for name, given in content.items():
        line, column = position(root, (name,))
        place = f"{path}:{line}:{column}"
        option = BY_NAME.get(str(name))
        if option is None:
            close = difflib.get_close_matches(str(name), BY_NAME, 1)
            hint = f"did you mean {close[0]}?" if close else f"allowed: {', '.join(sorted(BY_NAME))}"
            problems.append(Problem(place, f"{name}: unknown option, {hint}"))
        elif isinstance(given, list) and not option.many:
            problems.append(Problem(place, f"{name}: a list, one {option.metavar} is needed"))
        elif isinstance(given, dict) or given is None:
            problems.append(Problem(place, f"{name}: needs a {option.metavar or 'true or false'}"))
        else:
            texts = [_yaml_text(item) for item in given] if isinstance(given, list) else _yaml_text(given)
            before = len(problems)
            setting = _from_texts(option, texts, place, problems)
            problems[before:] = [Problem(place, f"{name}: {problem.text}") for problem in problems[before:]]
            settings[option.name] = setting._replace(source=f"file {place}")
    return settings


def _yaml_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
