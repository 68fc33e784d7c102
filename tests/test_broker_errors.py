"""One class per code: texts, aliases, subclasses of the application's own."""

import pickle

import aiokafka.errors
import pytest

from aiokafka_lite import broker_errors
from aiokafka_lite.broker_errors import (
    CorruptRecordException,
    NotLeaderForPartitionError,
    ProducerFenced,
    TopicAuthorizationFailedError,
    for_code,
    kafka_errors,
)
from aiokafka_lite.kafka_error import Fault


def test_text_has_number_name_and_what_it_means() -> None:
    assert str(NotLeaderForPartitionError()) == (
        "[Error 6] NotLeaderForPartitionError: The broker is not, or no longer, the leader"
        " or a replica of the partition."
    )
    assert str(for_code(3)("orders-7")) == "[Error 3] UnknownTopicOrPartitionError: orders-7"


@pytest.mark.parametrize("code", sorted(kafka_errors))
def test_class_is_documented_exported_and_survives_pickling(code: int) -> None:
    error = kafka_errors[code]
    assert error.description.endswith(".")
    assert "\n" not in error.description
    assert error.__name__ in broker_errors.__all__
    assert getattr(broker_errors, error.__name__) is error
    copy = pickle.loads(pickle.dumps(error("text")))
    assert (type(copy), copy.args) == (error, ("text",))


@pytest.mark.parametrize("code", sorted(aiokafka.errors.kafka_errors))
def test_aiokafkas_names_and_promises_are_kept(code: int) -> None:
    """Where aiokafka says retriable or stale metadata, so do we; Java adds to it."""
    theirs, ours = aiokafka.errors.kafka_errors[code], for_code(code)
    assert ours.__name__ == theirs.__name__
    assert ours.retriable >= theirs.retriable
    assert ours.invalid_metadata >= theirs.invalid_metadata


@pytest.mark.parametrize(
    ("alias", "code"),
    [
        ("InvalidMessageError", 2),
        ("CoordinatorLoadInProgressError", 14),
        ("CoordinatorNotAvailableError", 15),
        ("NotCoordinatorError", 16),
    ],
)
def test_aiokafkas_second_names_are_the_same_class(alias: str, code: int) -> None:
    assert getattr(broker_errors, alias) is for_code(code)
    assert alias in broker_errors.__all__


def test_corrupt_record_says_where() -> None:
    error = CorruptRecordException("bad checksum", topic="orders", partition=3, offset=42)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.topic, copy.partition, copy.offset) == ("orders", 3, 42)
    assert CorruptRecordException().topic is None
    assert str(error) == "[Error 2] CorruptRecordException: bad checksum"


def test_facts_say_whose_fault_and_what_is_fatal() -> None:
    assert TopicAuthorizationFailedError.fault is Fault.USER
    assert NotLeaderForPartitionError.fault is Fault.CLUSTER
    assert ProducerFenced.fatal
    assert not NotLeaderForPartitionError.fatal
