"""Any program finds with compat what it finds with aiokafka, but for the rows of docs/moving.md."""

import asyncio
import gc
import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.compat.side_by_side import programs as side_by_side
from tests.compat.side_by_side.programs import (
    DIFFERENCES,
    FAST,
    OURS,
    PLACES_KEPT,
    STEPS,
    THEIRS,
    Finding,
    Package,
    Program,
    Run,
    Step,
    difference,
    programs,
    run,
    told_apart,
)
from tests.support.documents import MOVING

pytestmark = pytest.mark.usefixtures("others_may_leak")
SOAK_EXAMPLES = int(os.environ.get("SIDE_BY_SIDE_EXAMPLES", "1500"))
"""An hour of it on one core."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What aiokafka logs of wrong calls is no finding."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


RUNS = 3
"""Real sockets and a loaded machine make a run differ. What differs each time is a finding."""


def compare(program: Program) -> None:
    for _ in range(RUNS):
        theirs = asyncio.run(run(THEIRS, program))
        ours = asyncio.run(run(OURS, program))
        apart = told_apart(program, theirs, ours)
        if apart is None:
            return
    assert apart is not None
    lines = [f"{apart[0].name}: aiokafka {apart[1]}, here {apart[2]}; step by step:"]
    for step, their_finding, our_finding in zip(program.steps, theirs, ours, strict=False):
        lines.append(f"{step.name}{step.arguments}: {their_finding} / {our_finding}")
    raise AssertionError("\n".join(lines))


COMMON = settings(
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],  # a smaller program takes as long to find as a new one
    suppress_health_check=list(HealthCheck),
)
QUICK = tuple(
    name
    for name in STEPS
    if name not in ("stop", "stop_producer", "unsubscribe", "subscribe", "rebalance")
)
"""Steps after which calls seldom wait for nothing."""


@settings(COMMON, max_examples=10)
@given(programs(QUICK, most=6))
def test_a_program_finds_what_it_finds_with_aiokafka(program: Program) -> None:
    compare(program)


GROUP = {**FAST, "group_id": "group", "enable_auto_commit": False}
FOUND = {
    "nothing is assigned after stop": Program(
        FAST, ("a",), [Step("start"), Step("stop"), Step("assign", ([],)), Step("subscription")]
    ),
    "a subscription after an empty assignment": Program(
        FAST, (), [Step("start"), Step("assign", ([],)), Step("subscribe", (["a"], None, False))]
    ),
    "no offsets for a transaction": Program(
        FAST,
        (),
        [Step("begin_transaction"), Step("send_offsets", ({}, "group"))],
        {"transactional_id": "id"},
    ),
    "what was given up without a listener": Program(
        GROUP,
        ("a",),
        [Step("start"), Step("unsubscribe"), Step("subscribe", (["a", "b"], None, True))],
    ),
    "what a listener gave up, and nobody heard": Program(
        GROUP,
        (),
        [
            Step("start"),
            Step("subscribe", (["a"], None, True)),
            Step("unsubscribe"),
            Step("subscribe", (["b"], None, False)),
            Step("subscribe", (["a", "b"], None, True)),
        ],
    ),
    "the topics of assigned partitions": Program(
        FAST, (), [Step("start"), Step("assign", ([("a", 0), ("b", 1)],)), Step("subscription")]
    ),
}
"""What has differed once."""


@pytest.mark.parametrize("program", FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(program: Program) -> None:
    compare(program)


@pytest.mark.soak
@pytest.mark.timeout(0)
@settings(COMMON, derandomize=False, max_examples=SOAK_EXAMPLES)
@given(programs())
def test_any_program_finds_what_it_finds_with_aiokafka(program: Program) -> None:
    compare(program)


def test_each_difference_has_its_row_in_the_guide() -> None:
    page = MOVING.read_text(encoding="utf-8")
    table = page[page.index("## Every difference to aiokafka") :]
    rows = [line.split(" | ")[0].strip("| ") for line in table.splitlines() if line[:2] == "| "]
    assert {PLACES_KEPT, *(each.row for each in DIFFERENCES)} <= set(rows)


def test_each_step_can_be_done() -> None:
    assert {f"do_{name}" for name in STEPS} == {name for name in vars(Run) if name[:3] == "do_"}


@pytest.mark.parametrize("package", [THEIRS, OURS], ids=["theirs", "ours"])
def test_a_step_that_is_given_up_leaves_no_member_behind(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other member would be collected later, and its warning be an error of some test."""
    monkeypatch.setattr(side_by_side, "STEP_S", 0.3)
    program = Program({**FAST, "group_id": "group"}, (), [Step("start"), Step("rebalance")])
    rebalance = asyncio.run(run(package, program))[1]
    assert rebalance.error
    gc.collect()


def test_a_difference_is_noticed() -> None:
    step = Step("position")
    program = Program({}, (), [step])
    same = [Finding(1), Finding([]), Finding([])]
    other = [Finding(2), Finding([]), Finding([])]
    assert told_apart(program, same, same) is None
    assert told_apart(program, same, other) == (step, Finding(1), Finding(2))
    kinds = Finding(error=("KeyError", "LookupError"))
    assert kinds.agrees(Finding(error=("LookupError",)))
    assert not Finding(error=("LookupError",)).agrees(kinds)
    assert not Finding(1).agrees(kinds)
    waits = Finding(error=("TimeoutError",))
    assert difference(step, waits, kinds) is not None
    assert difference(step, waits, Finding(1)) is None
    assert told_apart(program, [waits, *same[1:]], [kinds, *other[1:]]) is None
    both_refuse = [waits, Finding([]), Finding([])], [kinds, Finding(["lost"]), Finding([])]
    assert told_apart(program, *both_refuse) is not None, "the program goes on in the same way"
    stopped = Finding(error=("ConsumerStoppedError",))
    one_refuses = [Finding(1), Finding([]), Finding([])], [stopped, Finding(["lost"]), Finding([])]
    assert told_apart(program, *one_refuses) is None
    left = Step("left behind")
    ends: list[Any] = []
    stored = Finding((ends, [("a", 0, 2)]))
    for offset, is_known in ((2, True), (0, False), (3, False)):
        ours = Finding((ends, [("a", 0, offset)]))
        assert (difference(left, stored, ours) is not None) == is_known
    beginning = Finding((ends, [("a", 0, 2), ("b", 0, 0)]))
    assert difference(left, stored, beginning) is not None
