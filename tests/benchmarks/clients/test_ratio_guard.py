"""A guard against losing speed: what whole clients cost beside aiokafka, on the embedded broker.

A figure is the CPU time of a fresh process per record, as in `benchmarks.clients`. Ratios hold on a
slow machine as on a quick one, and the clients take turns. Only a ratio that is too small in each
of several measurements fails. A floor is at most two thirds of what was measured when it was
written, in the comment beside it. `tests/project/test_import_time.py` guards imports, and
`tests/benchmarks/leaves/test_ratio_guard.py` guards the leaves.
"""

from collections.abc import Iterator

import pytest

from aiokafka_lite.native import native
from benchmarks.clients.clients import Run, run_all
from benchmarks.clients.paths import BY_NAME
from benchmarks.processes.harness import running_broker
from benchmarks.report.progress import Steps

MEASUREMENTS = 5
SCALE = 0.2
"""The part of a benchmark's records that is enough here."""
LEAVES = ("record._batch_reader", "producer.batch._record_ack", "consumer.fetch._decoded_records")

pytestmark = pytest.mark.skipif(
    None in [native(f"aiokafka_lite.{leaf}") for leaf in LEAVES],
    reason="the leaves have no native twins here",
)


@pytest.fixture(scope="module")
def own_broker() -> Iterator[str]:
    """A broker in a process of its own, whose work is not the client's."""
    with running_broker("embedded") as address:
        yield address


@pytest.mark.parametrize(
    ("name", "floor"),
    [
        ("send-acked", 6.0),  # measured: 9.7-24
        ("getmany", 4.0),  # measured: 6.1-6.3
        ("one-by-one", 10.0),  # measured: 16-17
    ],
)
def test_client_keeps_its_distance_to_aiokafka(
    name: str, floor: float, own_broker: str, steps: Steps
) -> None:
    path = BY_NAME[name]
    plan = [Run(path, "ours"), Run(path, "aiokafka_peer")]
    ours, theirs = [], []
    for _ in range(MEASUREMENTS):
        taken = run_all("embedded", own_broker, plan, steps, rounds=1, scale=SCALE)
        ours += [sample.cpu_us for sample in taken[plan[0]]]
        theirs += [sample.cpu_us for sample in taken[plan[1]]]
        if min(theirs) / min(ours) >= floor:
            break
    assert min(theirs) / min(ours) >= floor
