"""How the errors of a transaction are told to users. What each one calls for is compared with
Java's client in tests/conformance/test_error_tables.py (2d'-4).
"""

import pytest

from aiokafka_lite.errors import (
    DeliveryTimeoutError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    KafkaConnectionError,
    KafkaError,
    ProducerFenced,
)
from aiokafka_lite.producer.transaction.transaction_errors import (
    TxnAction,
    as_expired,
    as_fenced,
    as_kafka_error,
    produce_action_for,
)


@pytest.mark.parametrize("error", [DeliveryTimeoutError, KafkaConnectionError])
def test_a_batch_without_an_answer_leaves_a_gap(error: type[KafkaError]) -> None:
    assert produce_action_for(error("x")) is TxnAction.ABORT_AND_BUMP


def test_every_error_is_told_as_one_of_kafka() -> None:
    error = ProducerFenced("x")
    assert as_kafka_error(error) is error
    told = as_kafka_error(ZeroDivisionError("y"))
    assert type(told) is KafkaError
    assert "ZeroDivisionError('y')" in str(told)


def test_a_producer_whose_epoch_is_refused_is_told_that_it_is_fenced() -> None:
    """Whatever the broker's number was; only the coordinator's own verdict is fatal."""
    refused, fenced = InvalidProducerEpoch("x"), ProducerFenced("y")
    told = as_fenced("t", refused)
    assert isinstance(told, ProducerFenced)
    assert told.__cause__ is refused
    assert as_fenced("t", fenced) is fenced
    assert produce_action_for(told) is TxnAction.ABORT_AND_BUMP
    assert produce_action_for(fenced) is TxnAction.FATAL


def test_a_forgotten_producer_is_told_what_may_have_happened() -> None:
    forgotten = InvalidProducerIdMapping("x")
    told = as_expired("t", forgotten)
    assert type(told) is InvalidProducerIdMapping
    assert told.__cause__ is forgotten
    assert "another one may have taken over since" in str(told)
    assert "transactional_id='t'" in str(told)
