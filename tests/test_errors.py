"""The public door of all errors: aiokafka's names, the four facts, and the drawing at its top."""

import ast
import inspect
import pickle
import re

import aiokafka.errors
import pytest

from aiokafka_lite import errors
from aiokafka_lite.errors import (
    BufferExhaustedError,
    CommitFailedError,
    ConsumerStoppedError,
    DeliveryTimeoutError,
    FeatureNotSupportedError,
    IllegalOperation,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    KafkaProtocolError,
    KafkaTimeoutError,
    LogTruncationError,
    OffsetOutOfRangeError,
    ProtocolDecodeError,
    RecordDeserializationError,
    SerializationError,
)
from aiokafka_lite.kafka_error import ErrorFacts, Fault
from aiokafka_lite.model import TopicPartition

CLASSES = [value for value in vars(errors).values() if isinstance(value, type)]
OURS = [cls for cls in CLASSES if cls.__module__ == errors.__name__]
THEIRS = [
    (name, value)
    for name, value in vars(aiokafka.errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
]


@pytest.mark.parametrize(("name", "theirs"), THEIRS, ids=[name for name, _ in THEIRS])
def test_every_name_of_aiokafka_is_here_with_its_promises(
    name: str, theirs: type[Exception]
) -> None:
    ours = getattr(errors, name)
    assert name in errors.__all__
    assert ours.__name__ == theirs.__name__
    for fact in ("retriable", "invalid_metadata"):
        assert getattr(ours, fact) >= getattr(theirs, fact, False)
    assert issubclass(ours, KafkaError) == issubclass(theirs, aiokafka.errors.KafkaError)


@pytest.mark.parametrize("cls", OURS)
def test_class_answers_the_four_questions_and_is_exported(cls: type[ErrorFacts]) -> None:
    assert issubclass(cls, ErrorFacts)
    assert isinstance(cls.fault, Fault)
    assert {type(cls.retriable), type(cls.invalid_metadata), type(cls.fatal)} == {bool}
    assert cls.__name__ in errors.__all__
    assert cls.__doc__


def test_everything_exported_exists_once() -> None:
    assert len(set(errors.__all__)) == len(errors.__all__)
    for name in errors.__all__:
        assert hasattr(errors, name)


def test_the_door_is_written_as_type_checkers_follow_it() -> None:
    """Pyright takes `__all__ += module.__all__` only of a module imported by its whole name."""
    tree = ast.parse(inspect.getsource(errors))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = [(alias.name, alias.asname) for node in imports for alias in node.names]
    assert ("aiokafka_lite.broker_errors", "broker_errors") in names


@pytest.mark.parametrize("cls", OURS)
def test_drawing_shows_the_class_with_its_flags(cls: type[ErrorFacts]) -> None:
    drawing = inspect.getdoc(errors)
    assert drawing is not None
    shown = re.search(rf"\b{cls.__name__}((?: +[RMF]\b)*)", drawing)
    assert shown is not None
    flags = set(shown.group(1).split())
    wanted = {"R": cls.retriable, "M": cls.invalid_metadata, "F": cls.fatal}
    assert flags == {flag for flag, is_set in wanted.items() if is_set}


def test_some_errors_are_also_pythons_own() -> None:
    assert issubclass(KafkaTimeoutError, TimeoutError)
    assert issubclass(BufferExhaustedError, KafkaTimeoutError)
    assert issubclass(DeliveryTimeoutError, KafkaTimeoutError)
    assert issubclass(SerializationError, TypeError)
    assert issubclass(KafkaConfigurationError, ValueError)
    assert issubclass(FeatureNotSupportedError, KafkaConfigurationError)
    assert issubclass(ProtocolDecodeError, KafkaProtocolError)


def test_two_derive_from_exception_only() -> None:
    """1.9: ConsumerStoppedError and IllegalOperation are not caught by `except KafkaError`."""
    for cls in (ConsumerStoppedError, IllegalOperation):
        assert not issubclass(cls, RuntimeError)
        assert cls.fault is Fault.USER


def test_timeout_error_keeps_its_text() -> None:
    error = KafkaTimeoutError("no metadata for 'orders' within 60.0 s")
    assert str(error) == "KafkaTimeoutError: no metadata for 'orders' within 60.0 s"
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert isinstance(copy, KafkaTimeoutError)


def test_connection_error_asks_for_fresh_metadata() -> None:
    assert KafkaConnectionError.retriable
    assert KafkaConnectionError.invalid_metadata
    assert KafkaConnectionError.fault is Fault.NETWORK


def test_commit_failed_names_the_remedy_unless_told_otherwise() -> None:
    text = str(CommitFailedError())
    assert "commit again after the next poll" in text
    for reason in ("removed", "session_timeout_ms", "max_poll_interval_ms"):
        assert reason in text
    assert str(CommitFailedError("why")) == "CommitFailedError: why"


def test_log_truncation_error_is_an_out_of_range_that_says_where_and_survives_pickling() -> None:
    """`LogTruncationError` is an `OffsetOutOfRangeError` that names the divergent offset (2c-3)."""
    error = LogTruncationError(
        "the log of orders-3 was truncated",
        topic_partition=TopicPartition("orders", 3),
        fetch_offset=42,
        divergent_offset=40,
        divergent_leader_epoch=2,
    )
    assert isinstance(error, OffsetOutOfRangeError)
    assert not error.retriable
    copy = pickle.loads(pickle.dumps(error))
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)
    assert (copy.topic_partition, copy.fetch_offset) == (TopicPartition("orders", 3), 42)
    assert (copy.divergent_offset, copy.divergent_leader_epoch) == (40, 2)
    unknown = LogTruncationError("x", topic_partition=TopicPartition("t", 0), fetch_offset=1)
    assert unknown.divergent_offset is None


def test_record_deserialization_error_carries_the_record_and_survives_pickling() -> None:
    class Mine(RecordDeserializationError):
        pass

    error = RecordDeserializationError(
        "value of orders-3@42 is not JSON",
        topic_partition=TopicPartition("orders", 3),
        offset=42,
        timestamp=7,
        key_bytes=None,
        value_bytes=b"{",
        headers=[("h", None)],
    )
    copy = pickle.loads(pickle.dumps(error))
    assert vars(copy) == vars(error)
    assert copy.args == ("value of orders-3@42 is not JSON",)
    assert copy.topic_partition == TopicPartition("orders", 3)
    assert (copy.offset, copy.timestamp) == (42, 7)
    assert (copy.key_bytes, copy.value_bytes, copy.headers) == (None, b"{", (("h", None),))
    assert issubclass(Mine, RecordDeserializationError)
