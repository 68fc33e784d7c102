"""An error that each attempt of a task would meet is told as final, and costs one attempt."""

from pathlib import Path

import pytest

from aiokafka_lite.errors import (
    AuthenticationFailedError,
    IllegalArgumentError,
    InvalidTimestampError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerFenced,
    SerializationError,
)
from aiokafka_lite.spark.write.final_errors import FinalError, ends_attempts, is_final

FINAL = [
    MessageSizeTooLargeError("a record exceeds max_request_size"),
    IllegalArgumentError("timestamp_ms=-1000"),
    InvalidTimestampError(),
    SerializationError("null topic"),
    KafkaTimeoutError("partition 9 of topic 't' did not appear within max_block_ms=5"),
]
PASSING = [
    KafkaTimeoutError("no answer within 5 ms"),
    KafkaConnectionError("refused"),
    ProducerFenced(),
    AuthenticationFailedError("the ticket has expired"),
]


def name(error: Exception) -> str:
    return type(error).__name__


@pytest.mark.parametrize("error", FINAL, ids=name)
def test_a_final_error_ends_later_attempts_before_they_begin(
    error: KafkaError, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    note, attempts = tmp_path / "note", []
    said = r"this is final.*change the rows"
    with pytest.raises(type(error), match=said) as first, ends_attempts(note, 0):
        raise error
    assert is_final(first.value)
    assert caplog.messages[0].startswith("final: ")
    for attempt in (1, 2, 3):
        said = "final: an earlier attempt of this task failed, "
        with pytest.raises(FinalError, match=said), ends_attempts(note, attempt):
            attempts.append(attempt)
    assert attempts == []


@pytest.mark.parametrize("error", PASSING, ids=name)
def test_an_error_that_may_pass_is_tried_again(error: KafkaError, tmp_path: Path) -> None:
    note = tmp_path / "note"
    with pytest.raises(type(error)) as raised, ends_attempts(note, 0):
        raise error
    assert "final" not in str(raised.value)
    with ends_attempts(note, 1):
        pass


def test_a_first_attempt_heeds_no_note_and_a_missing_place_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("of a stage that runs again")
    with ends_attempts(tmp_path / "note", 0):
        pass
    for place in (None, tmp_path / "no folder" / "note"):
        with pytest.raises(SerializationError, match="final"), ends_attempts(place, 0):
            raise SerializationError("null topic")
        with ends_attempts(place, 1):
            pass
