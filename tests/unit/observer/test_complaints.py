"""What is said about a collector that does not answer."""

import logging

import pytest

from turnkeeper.observer import complaints
from turnkeeper.observer.complaints import Complaints, LastError

LIBRARY = "opentelemetry.exporter.otlp.tests"


@pytest.fixture
def last_error() -> LastError:
    handler = LastError()
    handler.emit(logging.LogRecord(LIBRARY, logging.ERROR, "", 1, "connection %s", ("refused",), None))
    return handler


def test_one_line_an_interval_with_the_newest_error(last_error: LastError, caplog: pytest.LogCaptureFixture) -> None:
    said = Complaints(last_error)
    for _ in range(50):
        said.failed("traces")
        said.failed("logs")
    (record,) = caplog.records
    assert record.__dict__["fields"]["error"] == "connection refused"


def test_the_next_interval_says_how_many(
    last_error: LastError, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Complaints(last_error)
    said.failed("traces")
    monkeypatch.setattr(complaints, "INTERVAL_S", 0.0)
    said.failed("traces")
    assert caplog.records[-1].__dict__["fields"]["failures"] == {"traces": 2}


def test_it_says_that_exports_work_again_once_none_fails(
    last_error: LastError, caplog: pytest.LogCaptureFixture
) -> None:
    said = Complaints(last_error)
    with caplog.at_level(logging.INFO):
        said.worked("traces")
        said.failed("traces")
        said.failed("logs")
        said.worked("traces")
        said.worked("logs")
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
