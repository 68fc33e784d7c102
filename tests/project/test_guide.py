"""DESIGN.md agrees with the code: its links, its state machines, the files that it names."""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, TypeVar

import pytest

from aiokafka_lite.cluster import kafka_client
from aiokafka_lite.cluster.telemetry import telemetry_state
from aiokafka_lite.consumer import consumer_life
from aiokafka_lite.consumer.group.classic import member
from aiokafka_lite.consumer.group.consumer_rebalance import epoch_member
from aiokafka_lite.consumer.position import partition_state
from aiokafka_lite.net import connection_state
from aiokafka_lite.producer import producer_life
from aiokafka_lite.producer.transaction import transaction_state
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from tests.support.documents import ROOT

DESIGN: Final = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
State = TypeVar("State", bound=Enum)
PACKAGE: Final = ROOT / "aiokafka_lite"
TEXT: Final = re.sub(r"^    .*$", "", DESIGN, flags=re.MULTILINE)
"""DESIGN.md without its drawings."""

PATHS: Final = sorted(
    {name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", TEXT) if "NAME" not in name}
)
LINKS: Final = sorted(set(re.findall(r"\]\(([^)]+)\)", DESIGN)))


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def followers(pairs: Iterable[tuple[Enum, Enum]]) -> dict[str, set[str]]:
    """State -> the states that may come next, by name. Steps to the same state are left out."""
    found: dict[str, set[str]] = {}
    for before, after in pairs:
        found.setdefault(before.name, set())
        if before is not after:
            found[before.name].add(after.name)
    return found


def forward(table: Mapping[State, Iterable[State]]) -> dict[str, set[str]]:
    return followers((before, after) for before, nexts in table.items() for after in nexts)


def drawn(machine: str) -> dict[str, set[str]]:
    """The lines of a machine in DESIGN.md: a state, then the states that may come next."""
    found = re.search(rf"^### {re.escape(machine)}\n(?:.*\n)+?\n((?:    .*\n)+)", DESIGN, re.M)
    assert found is not None, f"DESIGN.md does not draw {machine!r}"
    lines = [line.split() for line in found[1].splitlines()]
    return {line[0]: set(line[1:]) - {"→"} for line in lines}


MACHINES: Final[dict[str, dict[str, set[str]]]] = {
    "A producer": forward(producer_life.MAY_FOLLOW),
    "A consumer": forward(consumer_life.MAY_FOLLOW),
    "The client of a cluster": forward(kafka_client.MAY_FOLLOW),
    "The telemetry of a client": forward(telemetry_state.MAY_FOLLOW),
    "A connection": followers(
        (before, after) for (before, _), after in connection_state.TRANSITIONS.items()
    ),
    "A member of a classic group": forward(member.NEXT_STATES),
    "A member whose coordinator assigns": forward(epoch_member.NEXT_STATES),
    "The position of a partition": forward(partition_state.NEXT_STATES),
    "A transactional producer": followers(
        (before, after)
        for after, befores in transaction_state.MAY_COME_FROM.items()
        for before in befores
        if after is not TransactionState.FATAL_ERROR
    ),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_state_machine_is_drawn_as_its_table_says(machine: str) -> None:
    assert drawn(machine) == MACHINES[machine]


def test_links_lead_somewhere() -> None:
    assert len(LINKS) > 15
    assert [link for link in LINKS if not leads_somewhere(link)] == []


def leads_somewhere(link: str) -> bool:
    path, _, name = link.partition("#")
    if path and not (ROOT / path).is_file():
        return (ROOT / path).is_dir() and not name
    text = (ROOT / path).read_text(encoding="utf-8") if path else DESIGN
    headings = {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    return not name or name in headings or f'id="{name}"' in text


def test_named_files_and_folders_exist() -> None:
    assert len(PATHS) > 50
    assert [name for name in PATHS if not exists(name)] == []


def exists(name: str) -> bool:
    """Whether there is such a path, in the project, the package or one of its rooms."""
    places = [ROOT / name, PACKAGE / name, *(room / name for room in PACKAGE.iterdir())]
    return any(
        place.exists()
        or place.with_suffix(".py").exists()
        or (place.parent / f"{place.name}.py").exists()
        for place in places
    )
