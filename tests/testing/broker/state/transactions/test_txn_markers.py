"""Where markers are written, and when."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_header import parse_header
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TransactionMetadata
from tests.testing.broker.bench import Bench, batch

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
NOW_MS = 5


def prepared(
    *partitions: TopicPartition, groups: tuple[str, ...] = (), is_commit: bool = True
) -> TransactionMetadata:
    """A transaction of producer 7 in epoch 3, ended as in V2: its markers have epoch 4."""
    metadata = TransactionMetadata("tx", 7, 1000)
    metadata.producer_epoch = 3
    metadata.add(partitions, groups, NOW_MS)
    metadata.prepare(NOW_MS, is_commit=is_commit, bumps_epoch=True)
    return metadata


def end(bench: Bench, metadata: TransactionMetadata) -> list[str]:
    """Begin to write the markers; the list gets an entry at the end."""
    completed: list[str] = []
    bench.transactions.markers.end(metadata, lambda: completed.append("yes"))
    return completed


def test_every_partition_gets_a_marker_with_the_epoch_of_the_producer() -> None:
    bench = Bench()
    topic = bench.topic(partitions=2)
    for partition in topic.partitions:
        partition.append(batch(b"a", producer=(7, 3, 0), is_transactional=True))
    metadata = prepared(T0, T1, is_commit=False)
    assert end(bench, metadata) == ["yes"]
    assert metadata.partitions == set()
    for partition in topic.partitions:
        log = partition.log
        header = parse_header(list(log.batches())[1].data)
        assert (header.is_control, header.is_transactional) == (True, True)
        assert (header.producer_id, header.producer_epoch) == (7, 4)
        assert log.last_stable_offset == 2
        assert log.transactions.aborted_between(0, 2) == [(7, 0)]
        assert partition.producers.epoch_of(7) == 4


def test_a_marker_tells_who_watches_the_partition() -> None:
    bench = Bench()
    (partition,) = bench.topic().partitions
    seen: list[int] = []
    partition.watch(lambda: seen.append(partition.log.log_end_offset))
    end(bench, prepared(T0))
    assert seen == [1]


def test_groups_take_their_offsets_over_or_drop_them() -> None:
    bench = Bench()
    for is_commit, expected in ((False, None), (True, StoredOffset(5))):
        group = bench.groups.find_or_create("g")
        group.offsets.commit_in_transaction(T0, StoredOffset(5), 7, 3)
        metadata = prepared(groups=("g", "unknown"), is_commit=is_commit)
        assert end(bench, metadata) == ["yes"]
        assert group.offsets.get(T0) == expected
        assert not group.offsets.is_unstable(T0)


def test_a_partition_without_leader_has_its_marker_as_soon_as_it_is_led() -> None:
    bench = Bench(2)
    bench.cluster.add_topic(bench.cluster.new_topic("t", assignments={0: [1], 1: [2]}))
    bench.cluster.set_alive(1, is_alive=False)
    metadata = prepared(T0, T1)
    completed = end(bench, metadata)
    assert (metadata.partitions, completed) == ({T0}, [])
    bench.cluster.set_alive(1, is_alive=True)
    assert (metadata.partitions, completed) == (set(), ["yes"])


def test_a_topic_that_is_gone_needs_no_marker() -> None:
    bench = Bench()
    bench.topic()
    bench.transactions.markers.hold()
    completed = end(bench, prepared(T0, TopicPartition("never", 0)))
    bench.cluster.delete_topic("t")
    assert completed == []
    bench.transactions.markers.release()
    assert completed == ["yes"]


def test_a_topic_deleted_without_leader_holds_nothing_up() -> None:
    bench = Bench()
    bench.topic()
    bench.cluster.set_alive(1, is_alive=False)
    completed = end(bench, prepared(T0))
    assert completed == []
    bench.cluster.delete_topic("t")
    assert completed == ["yes"]


def test_a_transaction_without_members_is_complete_at_once() -> None:
    assert end(Bench(), prepared()) == ["yes"]
