"""Measures the resident memory per record that a client holds, by the same harness.

Buffered: the broker never answers Produce, so every sent record stays in the producer. Held: the
application keeps every record it has consumed. Each run is a fresh process, which is connected
before the first measurement.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from benchmarks.peers.job import Job
from benchmarks.processes.harness import PEERS, fresh, run_peer, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import Table, collect

RECORDS = 100_000
PARTITIONS = 1
BUFFERED, WITH_HANDLES, HELD = (
    "buffered record",
    "buffered record and its kept ack",
    "held consumed record",
)
PATHS = {BUFFERED: "hold_unsent", WITH_HANDLES: "hold_unsent", HELD: "hold_consumed"}
CANNOT = {
    (HELD, "confluent_aio_peer"),  # its records are those of the other consumer
}
NO_PEERS = ("java_peer",)  # the memory of a JVM is set by its options
CONDITIONS = (
    "Growth of the resident memory of the process by {records:,} records of 108 bytes (8-byte key, "
    "100-byte value) to one partition, divided by their number; {rounds} rounds. The limits of the "
    "clients' buffers are raised to hold them all (aiokafka holds one batch a partition: "
    "max_batch_size). 10 bytes a record are 1 MB per 100,000."
)


def measure(peers: Sequence[str], steps: Steps, *, rounds: int, records: int = RECORDS) -> Table:
    """Run every peer on every path `rounds` times, and return bytes per record."""
    plan = [
        (row, peer)
        for row in PATHS
        for peer in peers
        if peer not in NO_PEERS and (row, peer) not in CANNOT
    ]
    steps.expect(rounds * len(plan))
    samples: list[tuple[str, str, float]] = []
    with EmbeddedBroker.threaded() as broker, _filled(broker, records) as filled:
        for _ in range(rounds):
            for row, peer in plan:
                steps.begin(f"memory: {row}, {PEERS[peer]}")
                samples.append(
                    (row, PEERS[peer], _bytes_a_record(broker, row, peer, filled, records))
                )
                steps.done()
    samples.sort(key=lambda sample: list(PATHS).index(sample[0]))
    figures = collect(samples)
    clients = {figure.client for figure in figures} - {PEERS["ours"]}
    return Table(
        "memory",
        "Memory",
        "bytes a record",
        CONDITIONS.format(records=records, rounds=rounds),
        figures,
        {(row, client): 1.0 for row in PATHS for client in clients},
    )


def _bytes_a_record(
    broker: EmbeddedBroker, row: str, peer: str, filled: str, records: int
) -> float:
    address = broker.bootstrap_servers
    if row == HELD:
        job = Job(address, filled, records, partitions=PARTITIONS)
        return _grown(peer, row, job)
    with topic(address, fresh("unanswered"), PARTITIONS) as name:
        broker.faults.stall(ProduceRequest, times=None)
        try:
            job = Job(address, name, records, keep_handles=row == WITH_HANDLES)
            return _grown(peer, row, job)
        finally:
            broker.faults.release()


def _grown(peer: str, row: str, job: Job) -> float:
    outcome = run_peer(peer, PATHS[row], job)
    return outcome.rss_bytes / outcome.records


@contextmanager
def _filled(broker: EmbeddedBroker, records: int) -> Iterator[str]:
    with topic(broker.bootstrap_servers, fresh("filled"), PARTITIONS) as name:
        run_peer("ours", "send", Job(broker.bootstrap_servers, name, records))
        yield name
