"""The table of options: argument before environment before default, and clear errors."""

import socket
from pathlib import Path
from typing import Any

import pytest

from turnkeeper_client import OptionError, Options, TurnKeeper, TurnkeeperError


def chosen(env: dict[str, str] | None = None, /, **given: Any) -> Options:
    told: Any = given
    return Options.of(told, env or {})


def test_defaults() -> None:
    options = chosen()
    assert (options.deadline_ms, options.fallback, options.policy, options.disabled) == (50.0, "local", "", False)


def test_every_option_has_a_variable_and_an_argument_comes_first(tmp_path: Path) -> None:
    pem = tmp_path / "pem"
    pem.write_text("x")
    env = {
        "TURNKEEPER_ADDRESS": "10.0.0.1:1",
        "TURNKEEPER_DEADLINE_MS": "75",
        "TURNKEEPER_FALLBACK": "closed",
        "TURNKEEPER_POLICY": "web",
        "TURNKEEPER_TOKEN_FILE": str(pem),
        "TURNKEEPER_TLS_CA": str(pem),
        "TURNKEEPER_TLS_CERT": str(pem),
        "TURNKEEPER_TLS_KEY": str(pem),
        "TURNKEEPER_DISABLED": "true",
    }
    options = chosen(env)
    assert options == Options(
        "10.0.0.1:1", 75.0, "closed", "web", str(pem), str(pem), str(pem), str(pem), disabled=True
    )
    assert chosen(env, address="[::1]:7310", fallback="open", disabled=False) == Options(
        "[::1]:7310", 75.0, "open", "web", str(pem), str(pem), str(pem), str(pem), disabled=False
    )


def test_an_empty_variable_is_as_if_it_were_not_set() -> None:
    assert chosen({"TURNKEEPER_DEADLINE_MS": "", "TURNKEEPER_DISABLED": ""}) == chosen()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("address", "localhost"),
        ("address", "unix:relative.sock"),
        ("address", "host:0"),
        ("address", "host:70000"),
        ("address", "http://host:1"),
        ("deadline_ms", 0),
        ("deadline_ms", -1),
        ("deadline_ms", "soon"),
        ("deadline_ms", 60_001),
        ("deadline_ms", float("nan")),
        ("deadline_ms", True),
        ("fallback", "maybe"),
        ("policy", " "),
        ("policy", "p" * 257),
        ("token_file", "/no/such/file"),
        ("tls_ca", "/"),
        ("disabled", "perhaps"),
    ],
)
def test_a_value_that_is_not_allowed_is_told_with_what_is(option: str, value: object) -> None:
    with pytest.raises(OptionError) as caught:
        chosen({}, **{option: value})
    error = caught.value
    assert (error.option, error.value) == (option, value) or value != value  # noqa: PLR0124 - NaN
    assert str(error).startswith(f"{option}: {value!r} is not allowed; allowed: ")
    assert isinstance(error, ValueError)
    assert isinstance(error, TurnkeeperError)


def test_a_bad_variable_is_named_as_it_was_set() -> None:
    with pytest.raises(
        OptionError, match=r"^TURNKEEPER_FALLBACK: 'never' is not allowed; allowed: open, closed or local"
    ):
        chosen({"TURNKEEPER_FALLBACK": "never"})


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    pem = tmp_path / "pem"
    pem.write_text("x")
    with pytest.raises(OptionError, match="tls_cert, tls_key"):
        chosen(tls_cert=pem)


def test_the_default_address_is_the_socket_if_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert chosen().address == "127.0.0.1:7310"
    directory = tmp_path / "turnkeeper"
    directory.mkdir()
    path = directory / "turnkeeper.sock"
    path.write_text("not a socket")
    assert chosen().address == "127.0.0.1:7310"
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert chosen().address == f"unix://{path}"


def test_a_client_refuses_a_bad_option() -> None:
    with pytest.raises(OptionError):
        TurnKeeper(fallback="maybe")
