"""The queue: room, records that are lost, and records that come again while they are handled."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers.share.share_queue import ShareItem, ShareQueue
from tests.share.records import record

TP = TopicPartition("t", 0)


def filled(count: int, max_records: int = 10) -> ShareQueue:
    queue = ShareQueue(max_records)
    queue.add(TP, [record(offset) for offset in range(count)])
    return queue


def taken(queue: ShareQueue) -> ShareItem:
    item = queue.take()
    assert item is not None
    return item


def test_there_is_room_once_half_of_it_is_free() -> None:
    assert [filled(count).room for count in (0, 5, 6, 10)] == [10, 5, 0, 0]
    queue = filled(6)
    item = taken(queue)
    assert queue.room == 0, "what is handled is unfinished"
    queue.finish(item)
    assert queue.room == 5


def test_a_queued_record_that_is_lost_is_forgotten() -> None:
    queue = filled(3)
    assert [item.place[1] for item in queue.lose([(TP, 1), (TP, 7)])] == [1]
    assert [taken(queue).place[1] for _ in range(2)] == [0, 2]
    assert queue.take() is None
    assert set(queue.unfinished) == {(TP, 0), (TP, 2)}


def test_a_record_that_comes_again_while_it_is_handled_is_not_handled_twice() -> None:
    queue = filled(1)
    item = taken(queue)
    assert queue.lose([(TP, 0)]) == [item]
    assert not item.is_held
    assert queue.lose([(TP, 0)]) == []
    again = record(0)
    queue.add(TP, [again])
    assert (item.is_held, item.record is again, queue.ready) == (True, True, 0)


def test_a_handler_that_was_cancelled_leaves_a_record_that_came_again_to_another() -> None:
    queue = filled(2)
    released, again = taken(queue), taken(queue)
    released.is_held = False
    queue.put_off(released)
    queue.put_off(again)
    assert (queue.ready, list(queue.unfinished)) == (1, [(TP, 1)])
    closed = taken(queue)
    queue.close()
    queue.put_off(closed)
    assert (queue.ready, len(queue.unfinished)) == (0, 0)


def test_a_closed_queue_starts_nothing() -> None:
    queue = filled(2)
    running = taken(queue)
    queue.close()
    assert queue.take() is None
    assert list(queue.unfinished.values()) == [running]
    assert str(running) == "t-0 offset 0"


def test_locks_are_looked_at_before_a_record_is_handled() -> None:
    queue = ShareQueue(10, lambda: queue.lose([(TP, 0)]))
    queue.add(TP, [record(0), record(1)])
    assert taken(queue).place == (TP, 1)
    queue.add(TP, [record(0)])
    assert queue.take() is None
    assert set(queue.unfinished) == {(TP, 1)}


def test_records_of_a_topic_that_is_gone_leave_their_places_to_others() -> None:
    queue = filled(3)
    running, lost = taken(queue), taken(queue)
    queue.lose([lost.place])
    assert [item.place[1] for item in queue.forget({"t"})] == [0, 2]
    assert (queue.ready, queue.unfinished) == (0, {})
    queue.add(TP, [record(0)])
    queue.finish(running)
    other = taken(queue)
    assert other is not running
    assert (running.is_held, queue.unfinished) == (False, {other.place: other})
    assert queue.forget({"u"}) == []
