import random
from typing import Any

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.producer.append.producer_interceptors import InterceptedPath
from aiokafka_lite.producer.append.transactional_path import TransactionalPath
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_engine import ProducerEngine
from aiokafka_lite.testing.broker import EmbeddedBroker


class Interceptor:
    def on_send_error(self, what: object, error: Exception) -> None:
        """Hear of errors alone."""


def engine(**options: Any) -> ProducerEngine:
    return ProducerEngine(ProducerConfig(**options), clock=SYSTEM_CLOCK, rng=random.Random(1))


def test_a_plain_producer_sends_by_the_append_path_alone() -> None:
    made = engine()
    assert made.is_plain
    assert made.records is made.append_path is made.path_of_send()
    assert made.fast_append_of_send() is made.append_path.fast_append
    assert made.transactions is None


@pytest.mark.parametrize(
    "options", [{"value_serializer": str.encode}, {"interceptors": [Interceptor()]}]
)
def test_serializers_and_interceptors_see_every_record_of_send(options: dict[str, Any]) -> None:
    made = engine(**options)
    assert not made.is_plain
    assert made.fast_append_of_send() is not made.append_path.fast_append


def test_in_transactions_interceptors_are_called_within_the_transaction() -> None:
    made = engine(transactional_id="mine", interceptors=[Interceptor()])
    assert made.transactions is not None
    assert isinstance(made.records, InterceptedPath)
    assert isinstance(made.path_of_send(), TransactionalPath)


async def test_a_start_that_failed_may_be_repeated_with_another_engine() -> None:
    """After a failed start the producer has a new engine, and start() may be called again."""
    broker = EmbeddedBroker()
    async with broker:
        address = broker.bootstrap_servers
    producer = AIOKafkaProducer(bootstrap_servers=address, request_timeout_ms=500)
    before = producer._engine
    with pytest.raises(KafkaConnectionError):
        await producer.start()
    assert producer._engine is not before
    with pytest.raises(KafkaConnectionError):
        await producer.start()
    await producer.stop()
