"""Code of a user that fails with a record in its error: no log line of the package repeats it.

`int(record.value)` is the usual case: "invalid literal for int() with base 10: b'4111…'".
"""

import logging
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, KeyedWorkers, ProducerRecord
from aiokafka_lite.errors import HandlerFailedError, IllegalArgumentError, SerializationError
from aiokafka_lite.testing.broker import EmbeddedBroker

MARK = "4111-2222"
CARD = MARK.encode()


class _Quoting:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        int(record.value)
        raise NotImplementedError


class _QuotingLater:
    async def on_send(self, record: ProducerRecord) -> ProducerRecord:
        raise KeyError(record.key)


class _Odd:
    def on_send(self, record: ProducerRecord) -> Any:
        return record.value

    def on_send_error(self, record: ProducerRecord, _error: Exception) -> None:
        raise LookupError(record.key)

    def __repr__(self) -> str:
        return MARK * 1000


@pytest.mark.parametrize("interceptor", [_Quoting(), _QuotingLater(), _Odd()])
async def test_interceptors(interceptor: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, interceptors=[interceptor]
        ) as producer:
            await producer.send_and_wait("t", CARD, key=CARD)
            with pytest.raises(SerializationError):
                await producer.send("t", MARK, key=CARD)  # type: ignore[arg-type]  # as is tested
    assert "interceptor" in caplog.text
    assert MARK not in caplog.text


def _choose(key: Any, _all: object, _available: object) -> Any:
    return key


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"partitioner": _choose}, {"key": CARD}),
        ({}, {"partition": MARK}),
        ({}, {"timestamp_ms": MARK}),
        ({}, {"headers": [(f"{MARK}\ud800", b"v")]}),
        ({}, {"headers": [("h", MARK)]}),
        ({}, {"key": MARK}),
    ],
)
async def test_errors_of_send(options: dict[str, Any], wrong: dict[str, Any]) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("t")
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, **options
        ) as producer:
            with pytest.raises((IllegalArgumentError, SerializationError)) as caught:
                await producer.send("t", **{"value": CARD, **wrong})
    assert MARK not in f"{caught.value} {caught.value!r}"


async def _quoting_cause(record: Any) -> None:
    raise ConnectionError("the database is away") from KeyError(record.key)


async def _quoting_context(record: Any) -> None:
    try:
        int(record.value)
    except ValueError:
        raise ConnectionError("the database is away")  # noqa: B904 - that is what is tested


async def _quoting_note(record: Any) -> None:
    error = ConnectionError("the database is away")
    error.add_note(f"for {record.key}")
    raise error


@pytest.mark.parametrize("handle", [_quoting_cause, _quoting_context, _quoting_note])
async def test_handlers(handle: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker() as broker:
        broker.produce("t", CARD, key=CARD)
        consumer = AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        async with KeyedWorkers(consumer, handle, retries=1, retry_backoff_ms=1) as workers:
            with pytest.raises(HandlerFailedError) as caught:
                await workers.run()
    lines = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert any("the database is away" in line for line in lines)
    assert handle.__name__ in caplog.text, "the frames are kept"
    assert MARK not in caplog.text
    assert MARK not in str(caught.value)
