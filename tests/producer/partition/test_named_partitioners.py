"""The named partitioners, with librdkafka as the witness."""

from itertools import pairwise
from typing import Any, get_args

import confluent_kafka
import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.producer.partition.named_partitioners import NAMED_PARTITIONERS, fnv1a
from aiokafka_lite.producer.producer_config import PartitionerName, ProducerConfig
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import kafka, producing

PARTITIONS = 7
NAMES: tuple[PartitionerName, ...] = get_args(PartitionerName)
KEYS = [b"", b"\x00", b"\xff\xfe", "schlüssel".encode(), b"k" * 300] + [
    b"key %d" % number for number in range(60)
]


@pytest.fixture(scope="module")
def librdkafkas() -> dict[str, dict[bytes | None, int]]:
    """Where librdkafka has put a record with each key, by the name of its partitioner."""
    found: dict[str, dict[bytes | None, int]] = {name: {} for name in NAMES}
    with EmbeddedBroker.threaded(num_partitions=PARTITIONS) as broker:
        for name in NAMES:
            broker.create_topic(name, PARTITIONS)
            options: dict[str, Any] = {"bootstrap.servers": broker.bootstrap_servers}
            producer = confluent_kafka.Producer({**options, "partitioner": name, "log_level": 0})

            def delivered(error: object, message: Any, name: str = name) -> None:
                assert error is None, error
                found[name][message.key()] = message.partition()

            for key in KEYS:
                producer.produce(name, b"v", key, on_delivery=delivered)
            if not name.endswith("_random"):
                producer.produce(name, b"v", on_delivery=delivered)
            assert producer.flush(30) == 0
    return found


@pytest.mark.usefixtures("others_may_leak")
@pytest.mark.parametrize("name", NAMES)
async def test_a_key_has_the_partition_that_librdkafka_gives_it(
    librdkafkas: dict[str, dict[bytes | None, int]], name: PartitionerName
) -> None:
    """A named partitioner gives each key the partition of librdkafka (2d-4)."""
    is_random = b"" if name == "consistent_random" else "no key"
    theirs = {key: place for key, place in librdkafkas[name].items() if key != is_random}
    async with (
        kafka(num_partitions=PARTITIONS) as broker,
        producing(broker, partitioner=name) as producer,
    ):
        await producer.partitions_for("orders")
        acks = {key: await producer.send("orders", b"v", key) for key in theirs}
        await producer.flush()
        assert {key: ack.result().partition for key, ack in acks.items()} == theirs
        assert len(set(theirs.values())) == PARTITIONS


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_random")])
async def test_a_record_without_key_goes_to_the_sticky_partition(name: PartitionerName) -> None:
    """Records without key fill one batch, then another one in another partition (2d-5)."""
    async with (
        kafka(num_partitions=PARTITIONS) as broker,
        producing(broker, partitioner=name, max_batch_size=1000, linger_ms=1000) as producer,
    ):
        await producer.partitions_for("orders")
        key = b"" if name == "consistent_random" else None
        acks = [await producer.send("orders", b"v" * 50, key) for _ in range(200)]
        await producer.flush()
        partitions = [ack.result().partition for ack in acks]
        changes = sum(one != other for one, other in pairwise(partitions))
        assert 1 <= changes <= 40
        filled = []
        for _ in range(40):
            batch = producer.create_batch()
            batch.append(value=b"v" * 500, key=None, timestamp=None)
            filled.append(await producer.send_batch(batch, "orders", partition=None))
        await producer.flush()
        assert len({ack.result().partition for ack in filled}) > 1


async def test_a_filled_batch_goes_where_a_record_without_key_would_go() -> None:
    async with (
        kafka(num_partitions=PARTITIONS) as broker,
        producing(broker, partitioner="fnv1a") as producer,
    ):
        batch = producer.create_batch()
        batch.append(value=b"v", key=None, timestamp=None)
        ack = await producer.send_batch(batch, "orders", partition=None)
        assert (await ack).partition == NAMED_PARTITIONERS["fnv1a"].partition(None, PARTITIONS)


def test_records_without_key_may_avoid_slow_nodes() -> None:
    config = ProducerConfig(partitioner="fnv1a_random", partitioner_availability_timeout_ms=5)
    assert config.partitioner_availability_timeout_ms == 5


def test_every_name_but_the_default_has_a_hash() -> None:
    assert NAMED_PARTITIONERS.keys() | {"murmur2_random"} == set(NAMES)


def test_fnv1a_is_saramas() -> None:
    """The values are those that Go gave to the authors of librdkafka (rdfnv1a.c)."""
    assert fnv1a(b"kafka") == 0xD33C4E1
    assert fnv1a(b"giberish123456789") == 0x77A58295
    assert fnv1a(b"") == 0x7EE3623B


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"partitioner": "random"}, "partitioner='random' is no partitioner of librdkafka"),
        ({"partitioner": "random"}, "name one of consistent, consistent_random, murmur2"),
        ({"partitioner": "fnv1a", "partitioner_ignore_keys": True}, "leave one of them out"),
        ({"partitioner": b"fnv1a"}, "is not callable"),
    ],
)
def test_other_names_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=text):
        ProducerConfig(**options)
