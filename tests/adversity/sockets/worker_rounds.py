"""Rounds of KeyedWorkers and ShareWorkers on a rough network: each record is handled.

Workers come and go, and some share their connections. Handlers take a while, fail now and then, and
are cancelled by rebalances.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from typing import Any, Final

from aiokafka_lite import AIOKafkaClient, AIOKafkaConsumer, AIOKafkaShareConsumer
from aiokafka_lite.errors import KafkaConfigurationError, KafkaError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.workers.keyed_workers import KeyedWorkers
from aiokafka_lite.workers.share.share_workers import ShareWorkers
from tests.adversity.sockets.checked_values import name_of
from tests.adversity.sockets.consumer_rounds import (
    ALL,
    PARTITIONS,
    TOPICS,
    Ledger,
    accidents,
    consumer_options,
)
from tests.adversity.sockets.storm import PATIENT, Storm, storm

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
        self.consumer: AIOKafkaConsumer[Any, Any] | AIOKafkaShareConsumer[Any, Any] | None = None
        """That of the newest workers."""

    def explained(self) -> list[str]:
        """Return what the newest consumer says of itself."""
        return [] if self.consumer is None else [str(each) for each in self.consumer.explain()]

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
        weather.broker.cluster.group_settings["g"] = {"share.auto.offset.reset": "earliest"}
        handling = Handling(ledger, rng)

        async def live(options: dict[str, Any], for_s: float | None) -> None:
            try:
                async with asyncio.timeout(for_s):
                    await _work(options, rng, protocol, handling)
            except KafkaConfigurationError:
                raise
            except (KafkaError, TimeoutError) as error:
                weather.note(f"workers end: {error!r}")

        async def live_often() -> None:
            for _ in range(lives):
                await live(options, rng.choice([0.05, 0.3, 1.0]))

        async def live_on() -> None:
            """Run workers, and new ones if they end by an error, as programs do."""
            while True:
                await live(options | PATIENT, None)

        async with weather.raging(), asyncio.timeout(240), asyncio.TaskGroup() as tasks:
            for _ in range(MEMBERS):
                tasks.create_task(live_often())
        handling.fails = False
        for partition in ALL:
            ledger.write(partition, 5)
        last = asyncio.create_task(live_on())
        await _until(lambda: last.done() or not ledger.missing())
        missing = ledger.missing()
        found = [*_where_records_are_missing(weather, ledger), *handling.explained()]
        last.cancel()
        with suppress(asyncio.CancelledError):
            await last
        assert not missing, "\n".join(["never handled:", *found, "before:", *weather.log[-60:]])
        return weather.log


async def _until(condition: Callable[[], bool]) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            while not condition():
                await asyncio.sleep(0.02)


def _where_records_are_missing(weather: Storm, ledger: Ledger) -> Iterator[str]:
    """Yield what the group has, and a line for each partition with records nobody handled."""
    missing, view = ledger.missing(), weather.broker.group("g")
    yield f"the group: {view.state}, generation {view.generation_id}, members {[*view.members]}"
    for partition in ALL:
        log = weather.broker.log(partition)
        offsets = [each.offset for each in log.records() if name_of(each.value) in missing]
        if offsets:
            yield (
                f"{partition}: {len(offsets)} of {log.log_end_offset} at {offsets[:20]}; committed:"
                f" {view.offsets.get(partition)}; shared: {view.shares.get(partition)}"
            )


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
            handling.consumer = share_consumer
            workers = ShareWorkers(share_consumer, handling.handle, commit_interval_ms=20, **_FAST)
        else:
            of_consumer = consumer_options(rng, protocol) | {"enable_auto_commit": False}
            consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(
                *TOPICS, **connections, **of_consumer
            )
            handling.consumer = consumer
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
