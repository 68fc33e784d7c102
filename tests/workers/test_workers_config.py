"""Wrong settings are named all at once."""

import functools
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaShareConsumer, KeyedWorkers, ShareWorkers
from aiokafka_lite.errors import KafkaConfigurationError
from tests.workers.records import record_at, settings


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"concurrency": 0}, "concurrency=0 is not a number above 0"),
        ({"concurrency": 2.5}, "concurrency=2.5 is not an int"),
        ({"not_retried": (3,)}, r"not_retried=\(3,\) is not a tuple of classes"),
        ({"not_retried": [ValueError]}, "not_retried=.* is not a tuple of classes"),
        ({"commit_interval_ms": "1"}, "commit_interval_ms='1' is not a number above 0"),
        ({"order": "keys"}, "order='keys' is none of 'key', 'partition', 'unordered'"),
        ({"retries": -1}, "retries=-1 is not an int from 0 on"),
        ({"has_dead_letters": True}, "dead_letters needs a number of retries"),
        ({"max_records": 3}, "max_records=3 is less than concurrency=4"),
        ({"drain_timeout_ms": 300_000}, "drain_timeout_ms=300000 is not below"),
    ],
)
def test_a_fault_is_named(changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=fault):
        settings(**changed)


async def _order(record: object) -> int:
    raise NotImplementedError


def _plain(record: object) -> None:
    raise NotImplementedError


def test_an_order_that_must_be_awaited_is_refused() -> None:
    with pytest.raises(KafkaConfigurationError, match="order is an `async def`"):
        settings(order=_order)


@pytest.mark.parametrize(
    "handler", [_plain, functools.partial(_plain), type("H", (), {"__call__": _plain})()]
)
def test_a_plain_function_is_no_handler(handler: Any) -> None:
    consumer = AIOKafkaConsumer("t", group_id="g", enable_auto_commit=False)
    with pytest.raises(KafkaConfigurationError, match=r"is a plain function, .* `async def`"):
        KeyedWorkers(consumer, handler)
    share = AIOKafkaShareConsumer("t", group_id="g", share_acknowledgement_mode="explicit")
    with pytest.raises(KafkaConfigurationError, match=r"is a plain function, .* `async def`"):
        ShareWorkers(share, handler)


def test_all_faults_are_in_one_error() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"max_bytes=0 .*; order=5 "):
        settings(order=5, max_bytes=0)


@pytest.mark.parametrize(
    ("order", "chain"),
    [("key", b"k"), ("partition", None), (lambda record: record.offset + 1, 8)],
)
def test_the_order_names_chains(order: Any, chain: object) -> None:
    key_of = settings(order=order).key_of
    assert key_of is not None
    assert key_of(record_at(7, b"k")) == chain


def test_without_an_order_there_are_no_chains() -> None:
    assert settings(order="unordered").key_of is None
