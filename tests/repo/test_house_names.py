"""The glossary and the code use one set of words."""

import re

from files import ROOT

from turnkeeper.core.model import PRECEDENCE, Disposition, Enforcement, Mode, Verdict

GLOSSARY = (ROOT / "daemon" / "GLOSSARY.md").read_text("utf-8")


def section(title: str) -> str:
    return GLOSSARY.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_reasons_stand_in_order_of_precedence() -> None:
    listed = re.findall(r"^\| `([A-Z_]+)`", section("Reasons"), flags=re.MULTILINE)
    assert listed == [reason.name for reason in PRECEDENCE]


def test_every_word_of_a_closed_set_is_explained() -> None:
    words = {
        member.name
        for kind in (Verdict, Mode, Disposition, Enforcement)
        for member in kind
        if member.name != "UNSPECIFIED"
    }
    assert words <= set(re.findall(r"`([A-Z_]+)`", GLOSSARY))
