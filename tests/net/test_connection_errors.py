"""Foreign errors become errors of this library at one border."""

import socket

import pytest

from aiokafka_lite.errors import KafkaConnectionError, KafkaTimeoutError, ProtocolDecodeError
from aiokafka_lite.net.connection_errors import connection_error, connection_errors


@pytest.mark.parametrize(
    ("foreign", "text"),
    [
        (ConnectionRefusedError(), "refused the connection; does a broker listen there?"),
        (TimeoutError(), "did not answer in time"),
        (ConnectionResetError("reset by peer"), "broke the connection (reset by peer)"),
        (BrokenPipeError("pipe"), "broke the connection (pipe)"),
        (socket.gaierror(-2, "Name unknown"), "cannot be resolved to an address (Name unknown)"),
        (OSError(113, "No route to host"), "cannot be used (OSError: [Errno 113] No route to host"),
        (RuntimeError("closed"), "cannot be used (RuntimeError: closed)"),
        (OverflowError("port must be 0-65535."), "is no valid address (port must be 0-65535.)"),
    ],
)
def test_foreign_errors_say_what_happened_to_whom(foreign: Exception, text: str) -> None:
    with pytest.raises(KafkaConnectionError) as caught, connection_errors("kafka:9092"):
        raise foreign
    assert f"kafka:9092 {text}" in str(caught.value)
    assert caught.value.__cause__ is foreign


def test_a_timeout_names_its_bound() -> None:
    error = connection_error(TimeoutError(), "kafka:9092", timeout_s=10.0)
    assert "kafka:9092 did not answer within 10,000 ms" in str(error)


@pytest.mark.parametrize("own", [ProtocolDecodeError("x"), KafkaTimeoutError("x"), ValueError("x")])
def test_our_own_errors_and_bugs_pass_as_they_are(own: Exception) -> None:
    with pytest.raises(type(own)) as caught, connection_errors("kafka:9092"):
        raise own
    assert caught.value is own
