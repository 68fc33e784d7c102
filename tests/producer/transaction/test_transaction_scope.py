import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.transaction.transaction_scope import TransactionScope

ORDERS, RETURNS = TopicPartition("orders", 0), TopicPartition("returns", 0)


def scope(*, is_v2: bool = False) -> TransactionScope:
    made = TransactionScope()
    made.is_v2 = is_v2
    return made


def test_in_the_first_protocol_batches_wait_for_the_coordinator() -> None:
    """Batches of a partition leave once the coordinator knows of the partition (2d'-2)."""
    transaction = scope()
    assert transaction.add(ORDERS)
    assert transaction.add(RETURNS)
    assert not transaction.may_send(ORDERS)
    assert transaction.unconfirmed() == [ORDERS, RETURNS]
    transaction.confirm([ORDERS])
    assert transaction.may_send(ORDERS)
    assert not transaction.may_send(RETURNS)
    assert transaction.unconfirmed() == [RETURNS]


def test_in_the_second_protocol_the_produce_request_adds_the_partition() -> None:
    transaction = scope(is_v2=True)
    assert not transaction.add(ORDERS)
    assert transaction.may_send(ORDERS)
    assert not transaction.has_begun
    transaction.batch_is_sent()
    assert transaction.has_begun


def test_in_the_first_protocol_a_transaction_begins_when_it_is_confirmed() -> None:
    transaction = scope()
    transaction.add(ORDERS)
    transaction.batch_is_sent()
    assert not transaction.has_begun
    transaction.confirm([ORDERS])
    assert transaction.has_begun
    assert not transaction.may_not_have_begun


@pytest.mark.parametrize("was_confirmed", [False, True])
def test_after_a_doubtful_request_the_transaction_may_have_begun(*, was_confirmed: bool) -> None:
    transaction = scope()
    transaction.add(ORDERS)
    if was_confirmed:
        transaction.confirm([ORDERS])
    transaction.doubt()
    transaction.doubt()
    assert transaction.has_begun
    assert transaction.may_not_have_begun == (not was_confirmed)


def test_a_transaction_that_has_ended_leaves_nothing() -> None:
    transaction = scope()
    transaction.add(ORDERS)
    transaction.groups.add("billing")
    transaction.doubt()
    transaction.clear()
    assert not transaction.partitions
    assert not transaction.groups
    assert not transaction.has_begun
    assert not transaction.may_not_have_begun
