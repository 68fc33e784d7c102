"""Both twins of the fast append keep these promises, and agree in every case."""

import asyncio
import inspect
import random
import time
import warnings
from collections.abc import Coroutine, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import KafkaError, ProducerClosed, SerializationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.producer.twins import producer_twin
from tests.producer.world import kafka, producing, written
from tests.support.coroutine_functions import is_coroutine_function

NOW_MS = 1_700_000_000_123


class Way:
    """A fast append to a topic "t" of three partitions, of which 0 and 2 have an open batch."""

    def __init__(self, twin: SimpleNamespace, room: int = 500, **options: Any) -> None:
        self.twin = twin
        self.queues = [twin.PartitionQueue(TopicPartition("t", number)) for number in range(3)]
        for number in (0, 2):
            buffer = bytearray(room)
            builder = twin.RecordBatchBuilder(buffer)
            batch = twin.ProducerBatch(TopicPartition("t", number), builder, buffer, 0.0)
            self.queues[number].open_batch = batch
        self.sticky = twin.StickyPartition(100, random.Random(1))
        partitions = (0, 1, 2)
        queue_of = self.queues.__getitem__
        route = twin.TopicRoute("t", partitions, partitions, queue_of, self.sticky, partitions)
        self.sticky.choices, self.sticky.current = route.choices, 2
        self.routes = {"t": route}
        self.way = twin.FastAppend(self.routes, now=lambda: NOW_MS / 1000, **options)

    def move_to(self, partition: int) -> None:
        """Let this be the sticky partition after the present one."""
        self.sticky.loads = SimpleNamespace(choose=lambda *_: partition)

    def append(self, value: Any = b"v", key: Any = None, *rest: Any, topic: Any = "t") -> Any:
        partition, timestamp_ms, headers = (*rest, None, None, None)[:3]
        return self.way.append(topic, value, key, partition, timestamp_ms, headers)

    def append_all(self, items: Any, partition: int | None = None) -> tuple[Any, Any]:
        bulk, iterator = self.twin.AckRuns(), iter(items)
        left = self.way.append_all(bulk, "t", next(iterator), iterator, partition, 7, ())
        return bulk, left

    def records(self, number: int) -> list[tuple[Any, ...]]:
        batch = self.queues[number].open_batch
        assert batch is not None
        if not batch.next_index:
            return []
        cursor = RecordCursor(bytes(batch.wire()), topic="t", partition=number, fetch_offset=0)
        return [(r.key, r.value, r.timestamp, tuple(r.headers)) for r in cursor.take(1000)]


# One record…


def test_a_record_without_a_timestamp_has_the_time_of_its_call(twin: SimpleNamespace) -> None:
    """Also while the native twin asks the processor's counter in place of the system's clock. It
    does so from 50 ms after its first look on.
    """
    way = Way(twin, room=8_000_000)
    way.way = twin.FastAppend(way.routes, now=time.time)
    began_ns = time.time_ns()
    seen_ms: set[int] = set()
    rounded_ns = 1000  # time.time() is a float
    while time.time_ns() < began_ns + 120_000_000 or len(seen_ms) <= 20:
        for _ in range(20):
            before_ms = (time.time_ns() - rounded_ns) // 1_000_000
            ack = way.append(b"v", None, 0)
            assert before_ms <= ack.timestamp_ms <= (time.time_ns() + rounded_ns) // 1_000_000
            seen_ms.add(ack.timestamp_ms)


def test_a_record_that_finds_everything_ready_is_appended(twin: SimpleNamespace) -> None:
    """The fast append appends a record when route, batch and bytes are ready (C3, C7)."""
    way = Way(twin)
    ack = way.append(b"value", b"key", 0, 55, [("h", b"x"), ("n", None)])
    assert ack._batch_and_index == (way.queues[0].open_batch, 0)
    assert (ack.timestamp_ms, ack.serialized_key_size, ack.serialized_value_size) == (55, 3, 5)
    assert way.append(None, b"key", 0).serialized_value_size == -1
    assert way.records(0) == [
        (b"key", b"value", 55, (("h", b"x"), ("n", None))),
        (b"key", None, NOW_MS, ()),
    ]


def test_a_held_topic_is_known_again_when_its_last_hold_ends_or_is_dropped(
    twin: SimpleNamespace,
) -> None:
    """No record is appended fast past one that waits (C7)."""
    way = Way(twin)
    route = way.routes["t"]
    routes = twin.HeldRoutes()
    routes.routes["t"] = routes.known["t"] = route
    first = routes.hold("t")
    second = routes.hold("t")
    assert routes.is_held("t")
    first.release()
    first.release()
    assert routes.known == {}
    assert routes.routes == {"t": route}
    del second
    assert routes.known == {"t": route}
    assert not routes.is_held("t")
    third = routes.hold("t")
    del routes.routes["t"]
    third.release()
    assert routes.known == {}
    assert not routes.is_held("t")


def test_a_topic_sent_to_again_and_again_goes_by_its_present_route(twin: SimpleNamespace) -> None:
    """No record is appended by a route that is held, forgotten or replaced (C7)."""
    way, other = Way(twin), Way(twin)
    routes = twin.HeldRoutes()
    way.way = twin.FastAppend(routes.known, now=lambda: NOW_MS / 1000)
    assert way.append(topic=None) is None
    assert way.append() is None
    routes.routes["t"] = way.routes["t"]
    for forget in (lambda: None, lambda: routes._forget("t"), routes._forget_all):
        routes._know("t")
        assert way.append() is not None
        assert way.append() is not None
        hold = routes.hold("t")
        routes._know("t")
        assert way.append() is None
        hold.release()
        assert way.append() is not None
        forget()
        assert (way.append() is None) == ("t" not in routes.known)
    assert routes.known == {}
    routes._know("t")
    assert way.append(b"v", b"key", 0) is not None
    routes.routes["t"] = other.routes["t"]
    routes._know("t")
    assert way.append(b"w", b"key", 0)._batch_and_index == (other.queues[0].open_batch, 0)


def test_keyed_records_go_where_murmur2_says(twin: SimpleNamespace) -> None:
    """The fast append sends a key to its murmur2 partition (2d-4)."""
    way = Way(twin, room=5000)
    for number in range(60):
        key = b"%d" % number
        ack = way.append(b"v", key)
        expected = (murmur2(key) & 0x7FFFFFFF) % 3
        assert (ack is None) == (expected == 1)
        if ack is not None:
            assert ack.topic_partition.partition == expected


def test_records_without_key_stick_until_the_share_is_taken(twin: SimpleNamespace) -> None:
    """Records without a key stick until a share is taken, twice that at the latest (2d-5)."""
    way = Way(twin, room=5000)
    assert [way.append(b"v" * 42).topic_partition.partition for _ in range(4)] == [2] * 4
    assert way.sticky.produced_bytes == 200
    way.move_to(0)
    assert way.append(b"v").topic_partition.partition == 0
    assert way.sticky.produced_bytes == 9
    assert len(way.records(2)) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        (None, None),
        ("text", None),
        (bytearray(b"v"), None),
        (b"v", "text"),
        (b"v", None, 1),
        (b"v", None, 3),
        (b"v", None, -1),
        (b"v", None, 2**70),
        (b"v", None, True),
        (b"v", None, 0, -1),
        (b"v", None, 0, 2**63),
        (b"v", None, 0, 1.5),
        (b"v", None, 0, True),
        (b"v", None, 0, None, {"h": b"x"}),
        (b"v", None, 0, None, [["h", b"x"]]),
        (b"v", None, 0, None, [("h", "x")]),
        (b"v", None, 0, None, [(b"h", b"x")]),
        (b"v", None, 0, None, [("h\udc80", b"x")]),
        (b"v" * 500, None, 0),
    ],
    ids=repr,
)
def test_any_other_record_is_left_alone(twin: SimpleNamespace, arguments: tuple[Any, ...]) -> None:
    way = Way(twin)
    assert way.append(*arguments) is None
    assert way.records(0) == way.records(2) == []
    assert way.sticky.produced_bytes == 0


def test_there_is_no_way_without_a_route(twin: SimpleNamespace) -> None:
    way = Way(twin)
    for topic in ("other", b"t", None, ["t"]):
        assert way.append(topic=topic) is None
    way.routes.clear()
    assert way.append(b"v", b"k", 0) is None


def test_the_sticky_partition_is_chosen_where_there_is_none(twin: SimpleNamespace) -> None:
    """Records without key need a partition of the present snapshot (2d-5)."""
    way = Way(twin)
    way.move_to(0)
    way.sticky.choices = (0, 2)  # of another snapshot
    assert way.append().topic_partition.partition == 2  # which is a choice of this one, too
    assert way.sticky.choices is way.routes["t"].choices
    way.sticky.current = -1
    assert way.append().topic_partition.partition == 0
    way.move_to(1)
    way.sticky.current = -1
    assert way.append() is None  # it has no batch, and nobody opens one
    assert way.sticky.current == 1


def test_a_partitioner_of_the_user_has_the_choice(twin: SimpleNamespace) -> None:
    way = Way(twin, has_partitioner=True)
    assert way.append(b"v", b"2") is None
    assert way.append(b"v") is None
    assert way.append(b"v", b"2", 0) is not None


def test_ignored_keys_stick(twin: SimpleNamespace) -> None:
    """With `partitioner_ignore_keys` keyed records use the sticky partition (KIP-794)."""
    way = Way(twin, ignores_keys=True)
    assert {way.append(b"", b"%d" % number).topic_partition.partition for number in range(9)} == {2}
    assert way.sticky.produced_bytes == 72


def test_a_transaction_hears_first_and_may_refuse(twin: SimpleNamespace) -> None:
    """A transaction that refuses the partition keeps the record from being appended (2d'-2)."""
    join = mock.Mock()
    way = Way(twin, join_transaction=join)
    assert way.append(b"v", None, 0) is not None
    join.assert_called_once_with(TopicPartition("t", 0))
    join.side_effect = SerializationError("as good as any")
    assert way.append(b"v", None, 0) is None
    assert len(way.records(0)) == 1


def test_room_is_made_for_a_record_unless_its_partition_may_change(twin: SimpleNamespace) -> None:
    """Room is made for a record that needs a batch; else it is left to the append path (C5)."""
    make_room = mock.Mock(return_value=None)
    way = Way(twin, room=200, make_room=make_room)
    assert way.append(b"v", b"key", 1, None, [("h", b"x")]) is None
    make_room.assert_called_once_with(way.queues[1], b"key", b"v", (("h", b"x"),), False)
    assert way.append(b"v" * 300) is None  # the sticky partition changes when its batch is full
    make_room.assert_called_once()
    make_room.side_effect = SerializationError("as good as any")
    assert way.append(b"v", b"key", 1) is None

    def opened(queue: Any, *_: object) -> Any:
        buffer = bytearray(500)
        builder = twin.RecordBatchBuilder(buffer)
        queue.open_batch = twin.ProducerBatch(queue.topic_partition, builder, buffer, 0.0)
        return queue.open_batch

    add_new = mock.Mock()
    way = Way(twin, room=200, make_room=make_room, add_new=add_new)
    make_room.side_effect = opened
    for number in (1, 0):  # without a batch, and with a full one
        ack = way.append(b"v" * 300, None, number, 55)
        assert ack._batch_and_index == (way.queues[number].open_batch, 0)
        assert way.records(number) == [(None, b"v" * 300, 55, ())]
    for _ in range(2):
        way.append(b"v", None, 2)
    opened_batches = [way.queues[number].open_batch for number in (1, 0, 2)]
    assert add_new.call_args_list == [mock.call(batch) for batch in opened_batches]
    add_new.side_effect = SerializationError("as good as any")
    assert way.append(b"v" * 300, None, 1) is None  # the producer was stopped meanwhile, perhaps


def moving_on(way: Way, partition: int) -> Any:
    """What makes room for sticky records, by a batch of that partition."""

    def make_room(route: Any, *_: object) -> Any:
        way.move_to(partition)
        way.sticky.current = -1
        queue = route.queue(way.sticky.settle(route.choices))
        buffer = bytearray(500)
        builder = way.twin.RecordBatchBuilder(buffer)
        queue.open_batch = way.twin.ProducerBatch(queue.topic_partition, builder, buffer, 0.0)
        return queue.open_batch

    return make_room


def test_room_for_a_sticky_record_may_be_in_another_partition(twin: SimpleNamespace) -> None:
    """A record without key opens a batch without the append path, elsewhere perhaps (2d-5)."""
    make_room, add_new = mock.Mock(), mock.Mock()
    way = Way(twin, room=200, make_sticky_room=make_room, add_new=add_new)
    make_room.side_effect = moving_on(way, 1)
    ack = way.append(b"v" * 300, None, None, 55, [("h", b"x")])
    make_room.assert_called_once_with(way.routes["t"], None, b"v" * 300, (("h", b"x"),), False)
    assert ack._batch_and_index == (way.queues[1].open_batch, 0)
    assert way.records(1) == [(None, b"v" * 300, 55, (("h", b"x"),))]
    assert way.sticky.produced_bytes == 308
    add_new.assert_called_once_with(way.queues[1].open_batch)
    make_room.side_effect = lambda *_: way.queues[2].open_batch
    for _ in range(9):
        way.append(b"v", None, 2)
    assert way.append(b"v" * 300) is None  # that batch has no room for it
    make_room.side_effect = SerializationError("as good as any")
    assert way.append(b"v" * 300) is None


fields = st.one_of(st.none(), st.binary(max_size=40), st.sampled_from(["text", bytearray(b"b")]))
heads = st.one_of(
    st.none(), st.lists(st.tuples(st.text(max_size=5), st.one_of(st.none(), st.binary(max_size=9))))
)
calls = st.tuples(
    fields,
    fields,
    st.sampled_from([None, 0, 1, 2, 3, -1]),
    st.sampled_from([None, 0, 1000, 2**41, 2**62, -5]),
    heads,
)


@given(calls=st.lists(calls, max_size=12))
def test_the_twins_take_the_same_records_and_write_the_same_bytes(
    calls: list[tuple[Any, ...]],
) -> None:
    ways = [Way(producer_twin(kind), room=300) for kind in ("pure", "native")]
    for arguments in calls:
        places = set()
        for way in ways:
            ack = way.append(*arguments)
            places.add(ack and (*ack.topic_partition, ack._batch_and_index[1], ack.timestamp_ms))
        assert len(places) == 1
    assert ways[0].sticky.produced_bytes == ways[1].sticky.produced_bytes
    for number in (0, 2):
        assert ways[0].records(number) == ways[1].records(number)


# Many…


def test_many_are_appended_up_to_the_first_that_is_not_simple(twin: SimpleNamespace) -> None:
    """The fast append appends records up to the first one that needs the append path (C2)."""
    way = Way(twin)
    bulk, left = way.append_all([b"a", (b"k", b"b"), (None, b"c"), (b"k", None), "text", b"d"], 0)
    assert left == "text"
    assert [row[:2] for row in way.records(0)] == [
        (None, b"a"),
        (b"k", b"b"),
        (None, b"c"),
        (b"k", None),
    ]
    assert len(bulk) == 4
    assert (list(bulk._firsts), list(bulk._counts)) == ([0], [4])
    bulk, left = way.append_all([b"e"], 2)
    assert left is twin.NO_MORE
    assert len(bulk) == 1


def test_pairs_go_where_their_keys_belong_with_a_run_for_each_change(
    twin: SimpleNamespace,
) -> None:
    """Pairs go to their keys' partitions, and each change of partition starts a new run (2d-4)."""
    way = Way(twin)
    keys = dict.fromkeys(range(3), b"")
    for number in range(50):
        keys[(murmur2(b"%d" % number) & 0x7FFFFFFF) % 3] = b"%d" % number
    bulk, left = way.append_all([(keys[at], b"%d" % at) for at in (0, 0, 2, 0, 2, 2, 1)])
    assert left == (keys[1], b"1")
    assert [row[1] for row in way.records(0)] == [b"0"] * 3
    assert [batch.topic_partition.partition for batch in bulk._batches] == [0, 2]
    assert list(bulk._places) == [0, 1, 0, 1]
    assert list(bulk._firsts) == [0, 0, 2, 1]
    assert list(bulk._counts) == [2, 1, 1, 2]


def test_many_stop_where_a_batch_is_full(twin: SimpleNamespace) -> None:
    way = Way(twin, room=200)
    _, left = way.append_all([b"%02d" % number * 10 for number in range(50)], 0)
    assert left == b"%02d" % len(way.records(0)) * 10
    assert 3 < len(way.records(0)) < 8


def generated(items: list[Any]) -> Iterator[Any]:
    yield from items


@pytest.mark.parametrize("kind", [list, tuple, generated])
def test_many_go_on_in_the_next_batch_with_the_time_of_then(
    twin: SimpleNamespace, kind: Any
) -> None:
    """`send_many` goes on across the change of the sticky partition (2d-5)."""
    times = iter(range(1, 100))
    way = Way(twin, room=300)
    options = {"make_sticky_room": moving_on(way, 1), "now": lambda: next(times)}
    way.way = twin.FastAppend(way.routes, **options)
    way.sticky.most_bytes = 10_000
    values = [b"%02d" % number * 10 for number in range(20)]
    bulk, iterator = twin.AckRuns(), iter(kind([*values, "text", b"left"]))
    left = way.way.append_all(bulk, "t", next(iterator), iterator, None, None, ())
    assert left == "text"
    assert next(iterator) == b"left"
    rows = [*way.records(2), *way.records(1)]
    assert [row[1] for row in rows] == values
    first = bulk._counts[0]
    assert 3 < first < 12
    assert (list(bulk._firsts), list(bulk._counts)) == ([0, 0], [first, 20 - first])
    (start, then), (change, later) = bulk._timestamps
    assert (start, change) == (0, first)
    assert then < later
    assert [row[2] for row in rows] == [then] * first + [later] * (20 - first)


@pytest.mark.parametrize("kind", [list, tuple, generated])
def test_many_leave_the_sticky_partition_at_twice_its_share(
    twin: SimpleNamespace, kind: Any
) -> None:
    """Also one `send_many` changes the partition before its batch is full (2d-5)."""
    way = Way(twin, room=50_000)
    way.move_to(0)
    bulk, iterator = twin.AckRuns(), iter(kind([b"v" * 42] * 9))
    assert way.way.append_all(bulk, "t", next(iterator), iterator, None, 7, ()) is twin.NO_MORE
    assert len(bulk) == 9
    assert [len(way.records(number)) for number in (2, 0)] == [4, 5]
    assert way.sticky.produced_bytes == 50


@pytest.mark.parametrize("kind", [list, tuple, generated])
@pytest.mark.parametrize("most", [0, 1, 3, 8])
def test_no_more_than_asked_for_is_read(twin: SimpleNamespace, kind: Any, most: int) -> None:
    """A generator may be slow, so `send_many` lets other tasks run in between (A12)."""
    way = Way(twin)
    bulk, iterator = twin.AckRuns(), iter(kind([b"v%d" % number for number in range(9)]))
    left = way.way.append_all(bulk, "t", next(iterator), iterator, 0, 7, (), most)
    assert left is twin.NO_MORE
    assert [value for _, value, _, _ in way.records(0)] == [b"v%d" % n for n in range(most + 1)]
    assert next(iterator, None) == (b"v%d" % (most + 1) if most < 8 else None)


def test_a_time_that_is_none_leaves_all_items(twin: SimpleNamespace) -> None:
    way = Way(twin)
    for when in (-1, 2**63, "now", 1.5):
        bulk, iterator = twin.AckRuns(), iter([b"a", b"b"])
        assert way.way.append_all(bulk, "t", next(iterator), iterator, 0, when, ()) == b"a"
        assert len(bulk) == 0


@given(
    items=st.lists(st.one_of(st.binary(max_size=200), st.none(), st.just("text")), max_size=30),
    room=st.integers(100, 1000),
    time=st.sampled_from([NOW_MS, NOW_MS - 70, NOW_MS + 2**40]),
)
def test_the_twins_append_the_same_of_many(items: list[Any], room: int, time: int) -> None:
    ways = [Way(producer_twin(kind), room=room) for kind in ("pure", "native")]
    outcomes = []
    for way in ways:
        way.append(b"first", None, 0)
        bulk, iterator = way.twin.AckRuns(), iter([*items, (None, None)])
        left = way.way.append_all(bulk, "t", next(iterator), iterator, 0, time, ())
        runs = (list(bulk._firsts), list(bulk._counts), bulk._timestamps)
        outcomes.append((left, list(iterator), runs, way.records(0)))
    assert outcomes[0] == outcomes[1]


def test_a_run_has_the_largest_numbers_that_records_can_have(twin: SimpleNamespace) -> None:
    way = Way(twin, room=3_000_000)
    values = [b"v"] * 17_000 + [b"w" * 70_000, b""] + [b"x" * 20_000] * 2
    _, left = way.append_all(values, 0)
    assert left is twin.NO_MORE
    batch = way.queues[0].open_batch
    cursor = RecordCursor(bytes(batch.wire()), topic="t", partition=0, fetch_offset=0)
    assert [record.value for record in cursor.take(20_000)] == values


def test_what_the_iterable_sends_itself_is_not_taken_for_one_of_the_many(
    twin: SimpleNamespace,
) -> None:
    way = Way(twin)

    def items() -> Iterator[bytes]:
        yield b"a"
        yield b"b"
        assert way.append(b"foreign", None, 0) is not None
        yield b"c"

    bulk, _ = way.append_all(items(), 0)
    assert [row[1] for row in way.records(0)] == [b"a", b"b", b"foreign", b"c"]
    assert (list(bulk._firsts), list(bulk._counts)) == ([0, 3], [2, 1])


def test_what_the_iterable_raises_leaves_the_places_of_the_others(twin: SimpleNamespace) -> None:
    way = Way(twin)

    def items() -> Iterator[bytes]:
        yield b"a"
        yield b"b"
        raise ValueError("no more")

    bulk, iterator = twin.AckRuns(), items()
    with pytest.raises(ValueError, match="no more"):
        way.way.append_all(bulk, "t", next(iterator), iterator, 0, 7, ())
    assert len(bulk) == len(way.records(0)) == 2


# What is derived from `SendPaths`…


class Sending:
    """A producer of a topic "t": its `send` and `send_and_wait` as one of the twins."""

    def __init__(self, twin: SimpleNamespace) -> None:
        self.rooms: list[bool] = []
        self.held: list[Any] = []
        self.number = 1
        self.way = Way(twin, hold=self._hold, make_room=self._make_room)
        self.way.way.loop = asyncio.get_running_loop()
        outer = self

        class Producer(twin.SendPaths):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                self._fast_append = outer.way.way
                self._path = outer

            async def _written(self, sending: Any) -> Any:
                return await (await sending)

        self.producer: Any = Producer()

    def _hold(self, topic: str) -> object:
        self.held.append(topic)
        return topic

    def _make_room(self, *record: Any) -> None:
        self.rooms.append(record[-1])

    def send(self, *record: Any, hold: object = None) -> Any:
        return self._send(self.number, record[1], hold)

    async def _send(self, number: int, value: Any, hold: object) -> Any:
        async def outcome() -> Any:
            return number, value, hold

        return outcome()

    @property
    def batch(self) -> Any:
        return self.way.queues[0].open_batch


async def test_what_belongs_to_a_call_is_done_and_noted_at_the_call(twin: SimpleNamespace) -> None:
    """The place of a record, the hold of its topic, and the transaction are those of the call, not
    of the first step of what it returns.
    """
    sending = Sending(twin)
    placed = sending.producer.send("t", b"v", partition=0)
    waiting = sending.producer.send_and_wait("t", b"v", partition=0)
    assert sending.batch.next_index == 2
    later = sending.producer.send("t", b"v", partition=1)  # which has no open batch
    last = sending.producer.send_and_wait("t", b"v", partition=1)
    assert sending.held == ["t", "t"]
    assert sending.rooms == [False, True]
    sending.number = 2
    assert await (await later) == await last == (1, b"v", "t")
    sending.batch.succeed(5)
    assert (await (await placed)).offset == 5
    assert (await waiting).offset == 6


async def test_a_wrong_topic_and_a_call_of_another_thread_hold_nothing(
    twin: SimpleNamespace,
) -> None:
    """The path refuses the one, and does the other in its own thread."""
    sending = Sending(twin)
    assert await (await sending.producer.send(5, b"v")) == (1, b"v", None)
    sending.way.way.thread_id = 0
    assert await (await sending.producer.send("t", b"v")) == (1, b"v", None)
    assert sending.held == []


async def test_what_send_and_wait_gives_is_a_coroutine_and_warns_of_nothing(
    twin: SimpleNamespace,
) -> None:
    """The record is sent whether or not somebody waits; it may be awaited more than once."""
    sending = Sending(twin)

    def wait() -> Any:
        made = sending.producer.send_and_wait("t", b"v", partition=0)
        assert isinstance(made, Coroutine)
        return made

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wait()
        sending.producer.send("t", b"v", partition=0)
    again = wait()
    task = asyncio.create_task(again)
    cancelled, gathered = asyncio.create_task(wait()), asyncio.gather(wait(), wait())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="before there is an outcome"):
        await again
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    closed = wait()
    closed.close()
    thrown = wait()
    with pytest.raises(KeyError):
        thrown.throw(KeyError("key"))
    sending.batch.succeed(0)
    assert [(await each).offset for each in (task, again, closed, thrown)] == [2, 2, 6, 7]
    assert [each.offset for each in await gathered] == [4, 5]
    assert (await asyncio.wait_for(again, 30)).offset == 2


# The producer's `send`…


async def test_send_is_a_coroutine_function_to_who_asks_and_gives_a_coroutine() -> None:
    """Mocks with a spec, create_task, gather and wait_for take it as such."""
    assert is_coroutine_function(AIOKafkaProducer.send)
    assert list(inspect.signature(AIOKafkaProducer.send).parameters) == [
        "self",
        "topic",
        "value",
        "key",
        "partition",
        "timestamp_ms",
        "headers",
    ]
    assert (AIOKafkaProducer.send.__doc__ or "").startswith("Queue a record; return its ack")
    producer = mock.AsyncMock(spec=AIOKafkaProducer)
    await producer.send("orders", b"v")
    async with kafka() as broker, producing(broker) as producing_one:
        for number in range(2):  # the append path takes the first
            sending = producing_one.send("orders", b"%d" % number, partition=0)
            assert isinstance(sending, Coroutine)
            ack = await asyncio.create_task(sending)
            assert (await ack).offset == number
        acks = await asyncio.gather(*(producing_one.send("orders", b"v", b"k") for _ in range(3)))
        await asyncio.wait_for(producing_one.send("orders", b"v", b"k"), 30)
        assert [(await ack).offset for ack in acks] == [2, 3, 4]
        await producing_one.flush()
        assert len(written(broker)) == 6


async def test_errors_of_send_come_at_the_await() -> None:
    """Errors of `send` are raised by its await, not by the call (C4)."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send("orders", b"v")
        wrong: list[tuple[Any, ...]] = [
            ("orders", "text"),
            ("orders",),
            (5, b"v"),
            ("orders", b"v", None, -1),
        ]
        for arguments in wrong:
            sending = producer.send(*arguments)
            with pytest.raises((KafkaError, AssertionError)):
                await sending
        await producer.stop()
        sending = producer.send("orders", b"v")
        with pytest.raises(ProducerClosed):
            await sending


async def test_a_header_name_that_utf_8_cannot_encode_is_raised_at_the_await() -> None:
    """A header name that UTF-8 cannot encode raises SerializationError and queues nothing (C4)."""
    async with kafka() as broker, producing(broker, linger_ms=20) as producer:
        await producer.send_and_wait("orders", b"first")
        ack = await producer.send("orders", b"second", headers=[("é", b"x")])
        sending = producer.send("orders", b"third", headers=[("n\udc80", b"x")])
        with pytest.raises(SerializationError, match="header 0"):
            await sending
        await ack
        assert written(broker) == [b"first", b"second"]
