"""Makes the table of docs/guides/testing.md: which settings act on the embedded broker.

`make options` writes it, from the settings that the broker declares and what its code uses.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from aiokafka_lite.testing.broker.state.settings.dynamic_broker_settings import (
    DYNAMIC_BROKER_SETTINGS,
)
from aiokafka_lite.testing.broker.state.settings.effects import (
    ACTING_BROKER_SETTINGS,
    ACTING_GROUP_SETTINGS,
    ACTING_TOPIC_SETTINGS,
)
from aiokafka_lite.testing.broker.state.settings.group_settings import GROUP_SETTINGS
from aiokafka_lite.testing.broker.state.settings.topic_settings import TOPIC_SETTINGS

PAGE: Final = "docs/guides/testing.md"
HEADING: Final = "## Settings that act"
NEXT: Final = "\n## "
INTRODUCTION: Final = """
Every setting that Kafka 4.4 knows can be set and described. These act. The others are stored, and a
line of the log says so when one is set. An unknown setting of a topic or a group is refused, in
Kafka's words. A setting of all brokers that is the default of an acting setting of topics acts too.
Options of the constructor are in [the list of options](../options.md). Of the quotas,
`producer_byte_rate` and `consumer_byte_rate` act: a client beyond its quota is told to pause, and
its connection is muted. A batch of more bytes than a consumer may read in ten seconds never comes.
"""


def _row(kind: str, declared: Iterable[str], acting: frozenset[str]) -> str:
    names = sorted(declared)
    acts = ", ".join(f"`{name}`" for name in names if name in acting)
    stored = ", ".join(f"`{name}`" for name in names if name not in acting)
    return f"| {kind} | {acts} | {stored} |"


def section() -> str:
    """Return the section with its table."""
    rows = [
        _row("topic", TOPIC_SETTINGS, ACTING_TOPIC_SETTINGS),
        _row("group", GROUP_SETTINGS, ACTING_GROUP_SETTINGS),
        _row("broker", DYNAMIC_BROKER_SETTINGS, ACTING_BROKER_SETTINGS),
    ]
    head = ["| of a | acts | is stored |", "|---|---|---|"]
    return "\n".join([HEADING, INTRODUCTION.rstrip(), "", *head, *rows, ""])


def page(root: Path) -> str:
    """Return the page with the section as it should be."""
    text = (root / PAGE).read_text(encoding="utf-8")
    before, _, rest = text.partition(HEADING)
    _, _, after = rest.partition(NEXT)
    return f"{before}{section()}{NEXT}{after}"


__all__ = ["PAGE", "page", "section"]
