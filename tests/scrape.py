"""Reading Prometheus text."""

import json
import urllib.request
from typing import Any

from prometheus_client.parser import text_string_to_metric_families


def metrics(admin: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return every sample of a daemon's /metrics."""
    with urllib.request.urlopen(f"http://{admin}/metrics", timeout=5) as answer:
        return parsed(answer.read().decode())


def parsed(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return every sample by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def total(samples: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **labels: str) -> float:
    """Sum the samples of a name that have these labels."""
    wanted = set(labels.items())
    return sum(value for (found, has), value in samples.items() if found == name and wanted <= has)


def status(admin: str) -> dict[str, Any]:
    """Return a daemon's /status."""
    with urllib.request.urlopen(f"http://{admin}/status", timeout=5) as answer:
        told: dict[str, Any] = json.load(answer)
        return told
