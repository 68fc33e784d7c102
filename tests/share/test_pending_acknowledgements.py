"""Acknowledgements wait for their node in groups that have one outcome."""

from aiokafka_lite.errors import InvalidRecordStateError, KafkaError, ShareSessionNotFoundError
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.share.held_records import AckBatch
from aiokafka_lite.share.pending_acknowledgements import (
    AckGroup,
    Outcome,
    PendingAcknowledgements,
)

TP, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)
ACCEPT, RENEW = AcknowledgeType.ACCEPT, AcknowledgeType.RENEW


def batch(first: int, *types: int, by_user: bool = True) -> AckBatch:
    return AckBatch(first, bytearray(types), by_user=by_user)


def shape(group: AckGroup) -> list[tuple[int, list[int]]]:
    return [(each.first, list(each.types)) for each in group.batches[TP]]


def test_batches_that_continue_each_other_become_one() -> None:
    group = AckGroup()
    for each in (batch(0, 1), batch(1, 1, 2), batch(5, 1)):
        group.add(TP, each)
    assert shape(group) == [(0, [1, 1, 2]), (5, [1])]


def test_what_the_client_gives_back_stays_apart_from_what_the_user_said() -> None:
    group = AckGroup()
    group.add(TP, batch(0, 1))
    group.add(TP, batch(1, 2, by_user=False))
    group.add(OTHER, batch(0, 2, by_user=False))
    assert shape(group) == [(0, [1]), (1, [2])]
    assert group.of_user == [TP]


def test_listeners_hear_the_outcome_once() -> None:
    heard: list[Outcome] = []
    group = AckGroup()
    group.add(TP, batch(0, 1))
    group.listeners.append(heard.append)
    error: KafkaError = ShareSessionNotFoundError()
    group.end(group.failed(error))
    group.end({TP: None})
    assert heard == [{TP: error}]


def test_what_waits_until_its_locks_have_ended_is_taken_apart() -> None:
    heard: list[Outcome] = []
    group = AckGroup()
    for offset, expires_at_s in ((0, 10.0), (1, 10.0), (2, 20.0)):
        late = batch(offset, ACCEPT)
        late.expires_at_s = expires_at_s
        group.add(TP, late)
    group.add(OTHER, batch(0, ACCEPT))
    group.listeners.append(heard.append)
    error: KafkaError = InvalidRecordStateError()
    assert not group.take_expired(9.0, error)
    assert shape(group.take_expired(10.0, error)) == [(0, [ACCEPT, ACCEPT])]
    assert shape(group) == [(2, [ACCEPT])]
    group.end({TP: None, OTHER: None})
    assert heard == [{TP: error, OTHER: None}]


def test_those_who_wait_hear_of_a_group_of_which_nothing_is_left() -> None:
    heard: list[Outcome] = []
    pending = PendingAcknowledgements()
    late = batch(0, ACCEPT)
    late.expires_at_s = 10.0
    pending.add(TP, late)
    for group in pending.groups:
        group.listeners.append(heard.append)
    error: KafkaError = InvalidRecordStateError()
    assert [shape(group) for group in pending.take_expired(10.0, error)] == [[(0, [ACCEPT])]]
    assert not pending
    assert heard == [{TP: error}]
    pending.add(TP, batch(1, ACCEPT))
    for group in pending.groups:
        group.listeners.append(heard.append)
        group.end({TP: None})
    assert all(each == {TP: None} for each in heard[1:])


def test_renewals_are_taken_apart() -> None:
    pending = PendingAcknowledgements()
    pending.add(TP, batch(0, ACCEPT))
    assert not pending.has_renewals
    pending.add(TP, batch(1, RENEW))
    assert pending.has_renewals
    assert shape(pending.take_renewals()) == [(1, [RENEW])]
    assert shape(pending.take_others()) == [(0, [ACCEPT])]
    assert not pending


def test_a_group_that_is_put_back_comes_before_what_came_since() -> None:
    heard: list[Outcome] = []
    pending = PendingAcknowledgements()
    pending.add(TP, batch(0, ACCEPT))
    refused = pending.take_others()
    pending.add(TP, batch(1, ACCEPT))
    for group in pending.groups:
        group.listeners.append(heard.append)
    pending.put_back(refused, is_renewal=False)
    again = pending.take_others()
    assert again.attempts == 1
    assert shape(again) == [(0, [ACCEPT, ACCEPT])]
    again.end({TP: None})
    assert heard == [{TP: None}]
