"""Topics with records for the tests of the Spark source, on an embedded broker."""

from collections.abc import Sequence

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from aiokafka_lite.spark.options.source_options import SourceOptions
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import batches

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def fill(broker: EmbeddedBroker, tp: TopicPartition, *sizes: int) -> None:
    """Append batches of these sizes; the value at offset n is b"v<n>"."""
    broker.append(tp, batches(broker.log(tp).high_watermark, *sizes))


def fill_records(
    broker: EmbeddedBroker, tp: TopicPartition, *records: tuple[int, bytes | None, bytes | None]
) -> None:
    """Append records, each given as its timestamp in ms, key and value."""
    builder = RecordBatchBuilder(bytearray(1 << 16))
    for timestamp_ms, key, value in records:
        assert builder.append(timestamp_ms, key, value) is not None
    builder.seal()
    broker.append(tp, builder.wire())


def fill_transaction(
    broker: EmbeddedBroker, tp: TopicPartition, count: int, control: ControlRecordType | None
) -> None:
    """Append records of a transaction, and the marker that ends it, unless it stays open."""
    builder = RecordBatchBuilder(bytearray(1 << 16), is_transactional=True)
    for number in range(count):
        builder.append(1000, None, b"t%d" % number)
    builder.seal()
    builder.stamp(7, 0, 0)
    broker.append(tp, builder.wire())
    if control is not None:
        marker = build_control_batch(
            control, base_offset=0, producer_id=7, producer_epoch=0, timestamp_ms=1000
        )
        broker.append(tp, marker)


def source_options(
    broker: EmbeddedBroker | str, *, streaming: bool = False, **options: str
) -> SourceOptions:
    """Options of a read of the topic t, that waits for nothing longer than it must."""
    servers = broker if isinstance(broker, str) else broker.bootstrap_servers
    given = {
        "kafka.bootstrap.servers": servers,
        "fetchOffset.retryIntervalMs": "1",
        "kafka.fetch.max.wait.ms": "100",
        **options,
    }
    if not {"subscribe", "subscribePattern", "assign"} & given.keys():
        given["subscribe"] = "t"
    return SourceOptions.parse(given, streaming=streaming)


def values(batches_read: Sequence[object]) -> list[bytes]:
    """The values of Arrow batches, in order."""
    return [value for each in batches_read for value in each["value"].to_pylist()]  # type: ignore[index]
