"""A transactional producer's records on the append path."""

from typing import Any, cast

import pytest

from aiokafka_lite.errors import NoTransactionError, ProducerClosed
from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.append.transactional_path import TransactionalPath
from aiokafka_lite.producer.transaction.transaction_sends import TransactionSends


class Way:
    """Takes all records."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    async def send(self, *record: Any, **options: Any) -> str:
        self.sent.append((record, options))
        return "ack"

    def send_nowait(self, *record: Any) -> str:
        self.sent.append(record)
        return "ack"


def path_over(way: Way, sends: TransactionSends, error: Exception | None = None) -> Any:
    def check_running() -> None:
        if error is not None:
            raise error

    return TransactionalPath(cast("AppendPath", way), sends, check_running)


async def test_a_record_goes_on_as_it_is() -> None:
    way = Way()
    path = path_over(way, TransactionSends(lambda: None))
    assert await path.send("t", b"v", allow_empty=True) == "ack"
    assert path.send_nowait("t", b"w") == "ack"
    assert way.sent == [(("t", b"v"), {"allow_empty": True}), ("t", b"w")]


async def test_a_call_belongs_to_the_transaction_of_the_call_not_of_its_first_step() -> None:
    way, sends = Way(), TransactionSends(lambda: None)
    coroutine = path_over(way, sends).send("t", b"v")
    sends.begin()
    with pytest.raises(NoTransactionError):
        await coroutine
    assert way.sent == []


async def test_that_the_producer_does_not_run_says_more() -> None:
    way = Way()
    path = path_over(way, TransactionSends(lambda: None), ProducerClosed("x"))
    with pytest.raises(ProducerClosed):
        await path.send("t", b"v")
