"""Lists the measured paths through whole clients: the peers, the number of records, the target.

A target is the least ratio of the client's CPU to ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.processes.harness import NOTHING, PEERS

ALL = tuple(PEERS)
IN_PYTHON = tuple(peer for peer in PEERS if peer != "java_peer")
ASYNCIO = ("ours", "aiokafka_peer", "confluent_aio_peer")
THREE = ("ours", "aiokafka_peer", "confluent_peer")
CODECS = ("lz4", "zstd", "snappy", "gzip")


@dataclass(frozen=True, slots=True)
class Path:
    """One row of the table of whole clients."""

    name: str
    title: str
    run: str
    """The path's name in `benchmarks.peers`."""
    peers: Sequence[str]
    records: int
    """Records of a run, unless `fewer` has the client."""
    fewer: Mapping[str, int] = field(default_factory=dict)
    """Records of clients so slow that a run would take too long."""
    targets: Mapping[str, float] = field(default_factory=dict)
    reads: bool = False
    value_bytes: int = 100
    compression: str | None = None
    partitions: int = 4
    equal: bool = False

    def records_of(self, peer: str, scale: float) -> int:
        """How many records one run of `peer` has."""
        return max(2000, round(self.fewer.get(peer, self.records) * scale))


def _send(codec: str) -> Path:
    return Path(
        f"send-{codec}",
        f"send, {codec}",
        "send",
        THREE,
        200_000,
        {"aiokafka_peer": 50_000},
        {"aiokafka_peer": 7, "confluent_peer": 1.4},
        compression=codec,
    )


def _getmany(codec: str) -> Path:
    targets = {"aiokafka_peer": 4, "confluent_peer": 1.4}
    return Path(
        f"getmany-{codec}",
        f"getmany, {codec}",
        "getmany",
        THREE,
        400_000,
        targets=targets,
        reads=True,
        compression=codec,
    )


_SLOW_SENDERS = {
    "aiokafka_peer": 80_000,
    "confluent_aio_peer": 100_000,
    "kafka_python_peer": 40_000,
}
_OF_GETMANY = {"aiokafka_peer": 9, "confluent_peer": 5, "kafka_python_peer": 25, "java_peer": 10}

PATHS = (
    Path(
        "send",
        "send, keyed, then flush",
        "send",
        (*ALL, NOTHING),
        400_000,
        _SLOW_SENDERS,
        {
            "aiokafka_peer": 45,
            "confluent_peer": 6,
            "kafka_python_peer": 40,
            "confluent_aio_peer": 17,
            "java_peer": 10,
        },
    ),
    Path(
        "send-acked",
        "send, every ack awaited",
        "send_acked",
        (*IN_PYTHON, NOTHING),
        300_000,
        _SLOW_SENDERS,
        {"aiokafka_peer": 20, "confluent_peer": 4},
    ),
    Path(
        "send-equal",
        "send, equal settings",
        "send",
        ("ours", "aiokafka_peer", "confluent_peer", "kafka_python_peer"),
        300_000,
        _SLOW_SENDERS,
        equal=True,
    ),
    Path(
        "bulk",
        "bulk, no keys",
        "bulk",
        THREE,
        600_000,
        targets={"aiokafka_peer": 5, "confluent_peer": 6},
    ),
    Path(
        "getmany",
        "getmany, 500 a call",
        "getmany",
        (*ALL, NOTHING),
        600_000,
        {"kafka_python_peer": 120_000},
        _OF_GETMANY,
        reads=True,
    ),
    Path(
        "getmany-equal",
        "getmany, equal settings",
        "getmany",
        THREE,
        600_000,
        reads=True,
        equal=True,
    ),
    Path(
        "group",
        "group of one, 16 partitions",
        "group",
        ALL,
        600_000,
        {"kafka_python_peer": 120_000},
        _OF_GETMANY,
        reads=True,
        partitions=16,
    ),
    Path(
        "share-group",
        "share group of one",
        "share_group",
        ("ours", "confluent_peer", "java_peer"),
        200_000,
        reads=True,
    ),
    Path(
        "one-by-one",
        "async for / poll",
        "one_by_one",
        (*IN_PYTHON, NOTHING),
        600_000,
        {"aiokafka_peer": 200_000, "kafka_python_peer": 100_000, "confluent_aio_peer": 20_000},
        {"aiokafka_peer": 25, "confluent_peer": 8},
        reads=True,
    ),
    Path(
        "arrow",
        "Arrow record batches",
        "arrow",
        THREE,
        600_000,
        targets={"confluent_peer": 4},
        reads=True,
    ),
    Path(
        "send-1kb",
        "send, 1 KB",
        "send",
        (*ALL, NOTHING),
        100_000,
        {"aiokafka_peer": 40_000, "confluent_aio_peer": 60_000, "kafka_python_peer": 20_000},
        {"aiokafka_peer": 15, "confluent_peer": 2.2},
        value_bytes=1000,
    ),
    Path(
        "getmany-1kb",
        "getmany, 1 KB",
        "getmany",
        (*ALL, NOTHING),
        200_000,
        {"kafka_python_peer": 60_000},
        {"aiokafka_peer": 4.5, "confluent_peer": 1.7},
        reads=True,
        value_bytes=1000,
    ),
    *(_send(codec) for codec in CODECS),
    *(_getmany(codec) for codec in CODECS),
    Path(
        "tasks",
        "1,000 tasks await acks",
        "tasks",
        (*ASYNCIO, NOTHING),
        80_000,
        {"aiokafka_peer": 40_000},
        {"aiokafka_peer": 3, "confluent_aio_peer": 1.7},
    ),
    Path(
        "tasks-1kb",
        "1,000 tasks await acks, 1 KB",
        "tasks",
        (*ASYNCIO, NOTHING),
        40_000,
        {"aiokafka_peer": 15_000},
        {"aiokafka_peer": 12, "confluent_aio_peer": 1.7},
        value_bytes=1000,
    ),
)
QUICK = ("send", "send-acked", "bulk", "getmany", "one-by-one", "arrow", "tasks")
BY_NAME = {path.name: path for path in PATHS}

TLS_TARGETS: Mapping[str, Mapping[str, float]] = {
    "send": {"aiokafka_peer": 8.3, "confluent_peer": 2.5},
    "getmany": {"aiokafka_peer": 2.9, "confluent_peer": 1},
}
"""The targets by the names of paths when all clients speak TLS. The cipher is part of each cost."""
TLS_PEERS = THREE
