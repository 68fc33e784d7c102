"""Rounds of KeyedWorkers and ShareWorkers on a rough network: each record is handled.

Workers come and go, and some share their connections. Handlers take a while, fail now and then, and
are cancelled by rebalances.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, Final

from aiokafka_lite import AIOKafkaClient, AIOKafkaConsumer, AIOKafkaShareConsumer
from aiokafka_lite.admin import AIOKafkaAdminClient, ConfigResource, ConfigResourceType
from aiokafka_lite.errors import KafkaConfigurationError, KafkaError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.workers.keyed_workers import KeyedWorkers
from aiokafka_lite.workers.share.share_workers import ShareWorkers
from tests.adversity.sockets.consumer_rounds import (
    ALL,
    PARTITIONS,
    TOPICS,
    Ledger,
    accidents,
    consumer_options,
)
from tests.adversity.sockets.storm import storm

MEMBERS: Final = 2
_END_S: Final = 60.0
"""Everything is handled within this time once the network is calm."""
_FAST: Final[dict[str, Any]] = {
    "retry_backoff_ms": 5,
    "retry_backoff_max_ms": 50,
    "drain_timeout_ms": 200,
}


class _HandlerFailed(Exception):
    """What handlers raise."""


class Handling:
    """The handlers of a round, and what they have finished."""

    def __init__(self, ledger: Ledger, rng: random.Random) -> None:
        self._ledger = ledger
        self._rng = rng
        self.fails = True

    async def handle(self, record: ConsumerRecord[Any, Any]) -> None:
        await asyncio.sleep(self._rng.choice([0.0, 0.0, 0.001, 0.02]))
        if self.fails and self._rng.random() < 0.1:
            raise _HandlerFailed
        partition = TopicPartition(record.topic, record.partition)
        self._ledger.is_right(partition, record.offset, record.value)


async def play_workers(seed: int, *, tls: bool, protocol: str, lives: int) -> list[str]:
    """Play a round, and return what happened.

    "share" is a share group; the other protocols are those of consumers. Raises AssertionError
    where a promise is broken.
    """
    async with storm(seed, tls=tls) as (weather, options):
        rng = random.Random(seed + 1)
        for topic in TOPICS:
            weather.broker.create_topic(topic, PARTITIONS)
        ledger = Ledger(weather.broker, rng)
        happening = accidents(weather, ledger, rng, may_make_anew=protocol in ("consumer", "share"))
        # What a share group has accepted is behind its start offset, in whatever log that was.
        weather.others += happening[:8] if protocol == "share" else happening
        if protocol == "share":
            await _begin_at_the_start(options)
        handling = Handling(ledger, rng)

        async def live() -> None:
            for _ in range(lives):
                for_s = rng.choice([0.05, 0.3, 1.0])
                try:
                    async with asyncio.timeout(for_s):
                        await _work(options, rng, protocol, handling)
                except KafkaConfigurationError:
                    raise
                except (KafkaError, TimeoutError) as error:
                    weather.note(f"workers end: {error!r}")

        async with weather.raging(), asyncio.timeout(240), asyncio.TaskGroup() as tasks:
            for _ in range(MEMBERS):
                tasks.create_task(live())
        handling.fails = False
        for partition in ALL:
            ledger.write(partition, 5)
        last = asyncio.create_task(_work(options, rng, protocol, handling))
        await _until(lambda: last.done() or not ledger.missing())
        last.cancel()
        with suppress(asyncio.CancelledError):
            await last
        missing = ledger.missing()
        assert not missing, f"never handled: {len(missing)}, {sorted(missing)[:20]}"
        return weather.log


async def _until(condition: Callable[[], bool]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            while not condition():
                await asyncio.sleep(0.02)


async def _begin_at_the_start(options: dict[str, Any]) -> None:
    async with AIOKafkaAdminClient(**options) as admin:
        settings = {"share.auto.offset.reset": "earliest"}
        resource = ConfigResource(ConfigResourceType.GROUP, "g", settings)
        await admin.incremental_alter_configs([resource])


async def _work(
    options: dict[str, Any], rng: random.Random, protocol: str, handling: Handling
) -> None:
    """Run workers until they are cancelled, over connections of their own or shared ones."""
    async with AsyncExitStack() as stack:
        connections = options
        if rng.random() < 0.3:
            shared = await stack.enter_async_context(AIOKafkaClient(**options))
            connections = {"client": shared}
        workers: KeyedWorkers[Any, Any] | ShareWorkers[Any, Any]
        if protocol == "share":
            share_consumer: AIOKafkaShareConsumer[Any, Any] = AIOKafkaShareConsumer(
                *TOPICS, group_id="g", share_acknowledgement_mode="explicit", **connections
            )
            workers = ShareWorkers(share_consumer, handling.handle, commit_interval_ms=20, **_FAST)
        else:
            of_consumer = consumer_options(rng, protocol) | {"enable_auto_commit": False}
            consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(
                *TOPICS, **connections, **of_consumer
            )
            workers = KeyedWorkers(
                consumer,
                handling.handle,
                commit_interval_ms=20,
                order=rng.choice(["key", "partition", "unordered"]),
                concurrency=5,
                max_records=rng.choice([8, 1_000]),
                **_FAST,
            )
        await stack.enter_async_context(workers)
        await workers.run()


__all__ = ["play_workers"]
