"""A dead letter is its record, with the reasons in headers."""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, DeadLetters
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.leftovers import nothing_left_behind
from tests.workers.records import record_at


@pytest.mark.parametrize(("key", "value"), [(b"k", b"v"), (None, b"v"), (b"k", None), (None, None)])
async def test_key_value_timestamp_and_headers_are_kept(
    key: bytes | None, value: bytes | None
) -> None:
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address) as producer:
            record = record_at(3, key, value=value, headers=[("own", b"1")])
            await DeadLetters(producer, "dead")._send(
                record, ValueError("no"), group_id="g", client_id="c", handler="h"
            )
        async with AIOKafkaConsumer("dead", auto_offset_reset="earliest", **address) as consumer:
            letter = await consumer.getone()
        assert (letter.key, letter.value, letter.timestamp) == (key, value, 7)
        assert letter.headers[0] == ("own", b"1")
        assert ("__connect.errors.offset", b"3") in list(letter.headers)
