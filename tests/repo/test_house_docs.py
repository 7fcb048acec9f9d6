"""House rules on documents: links and commands that work, words that are the product's, records that are complete."""

import re
from pathlib import Path

import pytest
from files import ROOT, files, name

DOCS = [path for path in files(".md") if path.name != "LICENSE"]
MACHINE = re.compile(
    r"(?<![\w./])/(?:work|root|home|Users)/\w|pypi\.org|registry\.npmjs|proxy\.golang\.org|repo\.maven|files\.pythonhosted"
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
TARGET = re.compile(r"^([a-z-]+):.*## ", re.MULTILINE)
MAKE = re.compile(r"\bmake ((?:[a-z]+(?:-[a-z]+)*)(?: [a-z]+(?:-[a-z]+)*)*)`|^make ([a-z-]+)", re.MULTILINE)
DECISION = re.compile(r"\A# .+\n\nStatus: (?:accepted|superseded by \d{4})\n\n\*\*Context\.\*\* ", re.MULTILINE)


def text(path: Path) -> str:
    return path.read_text("utf-8")


def prose(path: Path) -> str:
    """Return a document without its examples."""
    return re.sub(r"^```.*?^```", "", text(path), flags=re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


@pytest.mark.parametrize("path", DOCS, ids=name)
def test_commands_are_targets_of_the_makefile(path: Path) -> None:
    targets = set(TARGET.findall(text(ROOT / "Makefile")))
    asked = {word for found in MAKE.findall(text(path)) for word in " ".join(found).split()}
    assert asked <= targets, f"no such targets: {asked - targets}"


@pytest.mark.parametrize("path", [*DOCS, *files(".toml", ".yaml", ".txt", "Makefile", "run")], ids=name)
def test_no_document_knows_a_machine(path: Path) -> None:
    assert not MACHINE.findall(text(path))


def test_makefile_explains_its_targets() -> None:
    makefile = text(ROOT / "Makefile")
    phony = set(re.sub(r"\\\n", " ", makefile).partition(".PHONY:")[2].partition("\n")[0].split())
    assert phony == set(TARGET.findall(makefile))


def test_decisions_are_numbered_once_and_complete() -> None:
    records = [path for path in DOCS if path.parent.name == "decisions"]
    numbers = [path.name[:4] for path in records]
    assert len(numbers) == len(set(numbers))
    incomplete = [name(path) for path in records if not DECISION.match(text(path)) or "**Decision.**" not in text(path)]
    assert incomplete == ["daemon/decisions/0000-template.md"]


def test_folders_of_later_versions_say_so() -> None:
    for folder in ("dashboards", "helm"):
        assert (ROOT / folder / "README.md").is_file()
