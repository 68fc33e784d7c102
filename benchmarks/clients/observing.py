"""Measures what an observer costs: CPU per record of our clients with one, beside none.

Two clients in one process take turns, so a change of the machine's speed affects both. A round is a
fresh process, and its figure is the median over the pairs of turns. The row `nothing` compares two
clients without an observer: it shows how exact the figures are.
"""

import statistics
from collections.abc import Sequence
from itertools import product

from benchmarks.peers.job import Job
from benchmarks.peers.observed_pairs import OBSERVERS, TURNS_NOT_COUNTED
from benchmarks.processes.harness import fresh, run_peer, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS, Figure, Table

PATHS = ("send", "getmany")
PARTITIONS = 4
TURNS = 20
TURN_RECORDS = 20_000
LIMIT = 2.0
"""Percent of CPU that the standard set may cost."""
NO_LIMIT = ("nothing", "opentelemetry")
"""The SDK of OpenTelemetry needs most of the time for histograms. The exporter avoids that."""
CONDITIONS = (
    "CPU per record with the observer, less that without, in percent of that without. Two clients "
    "of one process take turns of {records:,} records; {rounds} rounds of {turns} turns each, and "
    "the median. 8-byte keys, 100-byte values, {partitions} partitions, defaults of the clients."
)


def measure(
    broker: str,
    address: str,
    steps: Steps,
    *,
    rounds: int,
    turns: int = TURNS,
    turn_records: int = TURN_RECORDS,
    observers: Sequence[str] = OBSERVERS,
) -> Table:
    """Run each path with each observer, `rounds` times."""
    turns += TURNS_NOT_COUNTED
    steps.expect(1 + rounds * len(PATHS) * len(observers))
    figures: dict[tuple[str, str], list[float]] = {}
    costs: dict[tuple[str, str], list[float]] = {}
    with topic(address, fresh("observed"), PARTITIONS) as filled:
        steps.begin("filling a topic")
        run_peer("ours", "send", Job(address, filled, (turns + 1) * max(turn_records, 1000)))
        steps.done()
        for _ in range(rounds):
            for path, observer in product(PATHS, observers):
                steps.begin(f"{broker}: {path}, {observer}")
                job = Job(address, filled, turns, observer=observer, turn_records=turn_records)
                taken = _turns(path, job)
                more = statistics.median(seen / plain - 1 for plain, seen in taken)
                figures.setdefault((path, observer), []).append(more * 100)
                costs.setdefault((path, observer), []).extend(plain for plain, _ in taken)
                steps.done()
    rows = {at: f"{at[0]}, {at[1].replace('_', ' ')}" for at in figures}
    return Table(
        f"observing-{broker.split(maxsplit=1)[0].lower()}",
        f"An observer, on {broker}",
        "% more CPU",
        CONDITIONS.format(records=turn_records, rounds=rounds, turns=turns, partitions=PARTITIONS),
        [
            Figure(
                rows[at], OURS, taken, f"of {statistics.median(costs[at]) * 1e6:.2f} µs a record"
            )
            for at, taken in figures.items()
        ],
        limits={rows[at]: LIMIT for at in figures if at[1] not in NO_LIMIT},
    )


def _turns(path: str, job: Job) -> list[tuple[float, float]]:
    if path != "send":
        return run_peer("observed_pairs", path, job).turns
    with topic(job.bootstrap_servers, fresh("observed"), PARTITIONS) as job.topic:
        return run_peer("observed_pairs", path, job).turns
