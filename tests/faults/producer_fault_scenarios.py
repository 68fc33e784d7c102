"""Plays accidents on a producer's cluster, or on its network: one function per accident.

Each is played on a `Stage`, which checks every rule at the end. There are two figures: the time
until every partition had an ack again, and the longest time in which one had none.
"""

import asyncio
import functools
import itertools
import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.clock import SYSTEM_CLOCK
from tests.faults import producer_oracle as oracle
from tests.faults.group_faults import Cluster, frozen
from tests.faults.producer_faults import (
    PARTITIONS,
    REQUEST_TIMEOUT_MS,
    SLACK_S,
    STEADY_S,
    Lag,
    Stage,
    Writer,
    end_all,
    note_outcome,
    read_log,
)
from tests.faults.producer_oracle import Sent
from tests.support.topics import create_topic, delete_topic
from tests.support.unreliable_network import Accident, ProxiedKafka, UnreliableNetwork

Scenario = Callable[[Stage], Awaitable[None]]

FREEZE_S = 6.0
OUTAGE_S = 8.0
ACCIDENTS = 12
HASTY_MS = 4000
RECORDS_LEFT = 300
PATIENT_MS = 400_000  # eight seconds, and the time that a busy machine needs to start three nodes


async def leader_killed(stage: Stage) -> None:
    """Kill (-9) a node that leads partitions, and start it again."""
    writer = await stage.writer()
    node = await stage.leader_of(writer)
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.cluster.kill([node])
    stage.back_after("resumed", await writer.resumed(since_s))
    await stage.cluster.heal()
    await _goes_on_without_failures(writer)


async def leader_terminated(stage: Stage) -> None:
    """Send SIGTERM to a node that leads partitions, which it hands over; then start it again."""
    writer = await stage.writer()
    node = await stage.leader_of(writer)
    since_s = SYSTEM_CLOCK.monotonic()
    await asyncio.to_thread(node.stop)
    stage.back_after("resumed", await writer.resumed(since_s))
    await stage.cluster.heal()
    await _goes_on_without_failures(writer)


async def leader_frozen(stage: Stage) -> None:
    """Stop a node that leads partitions for six seconds, by SIGSTOP."""
    writer = await stage.writer()
    node = await stage.leader_of(writer)
    since_s = SYSTEM_CLOCK.monotonic()
    with frozen([node]):
        await asyncio.sleep(FREEZE_S)
    stage.back_after("resumed", await writer.resumed(since_s))
    await _goes_on_without_failures(writer)


async def rolling_restart(stage: Stage) -> None:
    """Restart one node after the other, a leader first.

    Each gets SIGTERM, is started again, and catches up before the next one follows.
    """
    writer = await stage.writer()
    first = await stage.leader_of(writer)
    for node in sorted(stage.cluster.kafka.nodes, key=lambda node: node is not first):
        since_s = SYSTEM_CLOCK.monotonic()
        await asyncio.to_thread(node.stop)
        stage.back_after("resumed without a node", await writer.resumed(since_s))
        await stage.cluster.heal()
    await _goes_on_without_failures(writer)


async def all_brokers_down(stage: Stage) -> None:
    """Kill all nodes for eight seconds.

    A producer with a long delivery timeout loses no record. One with a short timeout reports in
    time which records were not written.
    """
    patient = await stage.writer("patient", delivery_timeout_ms=PATIENT_MS)
    hasty = await stage.writer("hasty", delivery_timeout_ms=HASTY_MS)
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.cluster.kill(stage.cluster.kafka.nodes)
    await asyncio.sleep(since_s + OUTAGE_S - SYSTEM_CLOCK.monotonic())
    await stage.cluster.heal()
    stage.figures["whole again"] = SYSTEM_CLOCK.monotonic() - since_s
    stage.back_after("resumed", await patient.resumed(since_s))
    await hasty.resumed()
    assert hasty.failed()
    await _goes_on_without_failures(patient)


async def connections_cut_and_answers_lost(stage: Stage) -> None:
    """Let the network between producer and brokers fail in each way, several times."""
    async with UnreliableNetwork(stage.kafka) as network:
        writer = await stage.writer(address=stage.kafka.proxied_servers)
        for number in range(ACCIDENTS):
            accident = list(Accident)[number % len(Accident)]
            await network.strike(accident)
            stage.back_after(accident.value, await writer.resumed())
        await _goes_on_without_failures(writer)
        writer.end_soon()
        await asyncio.gather(*stage.tasks)


async def _goes_on_without_failures(writer: Writer) -> None:
    await asyncio.sleep(STEADY_S)
    await writer.resumed()
    assert not writer.failed(), writer.failed()[:3]


@dataclass
class Stopped:
    """The outcome of producers that were stopped while no broker answered."""

    took_s: dict[str, float]
    """How long stop() took, by the name of the producer."""
    sent: list[Sent]


async def stop_with_dead_brokers(
    kafka: ProxiedKafka, topic: str, stop_ms: int, *, is_frozen: bool
) -> Stopped:
    """Kill or freeze all nodes, with records queued and a transaction open, then call stop().

    It ends by its own bound or by that of the records, and every record has an outcome.
    """
    cluster = Cluster(kafka)
    await cluster.heal()
    await create_topic(cluster.address, topic, partitions=PARTITIONS)
    producers = {
        "plain": _stopping(cluster),
        "short of time": _stopping(cluster, delivery_timeout_ms=HASTY_MS),
        "transactional": _stopping(cluster, transactional_id=topic),
    }
    numbers = itertools.count()
    first, left = [], []
    for producer in producers.values():
        await producer.start()
        if producer._config.transactional_id:
            await producer.begin_transaction()
        first += await _send_some(producer, topic, itertools.islice(numbers, PARTITIONS))
        await producer.flush()
    lag = Lag()
    watching = asyncio.create_task(lag.watch(), name="watch of the event loop")
    try:
        if not is_frozen:
            await cluster.kill(kafka.nodes)
        with frozen(kafka.nodes if is_frozen else ()):
            for each in producers.values():
                left += await _send_some(each, topic, itertools.islice(numbers, RECORDS_LEFT))
            stops = (_timed_stop(each, stop_ms) for each in producers.values())
            took = await asyncio.gather(*stops)
    finally:
        await end_all([watching])
    stopped = Stopped(dict(zip(producers, took, strict=True)), [*first, *left])
    slack_s = SLACK_S + lag.longest_s
    assert max(took) < stop_ms / 1000 + slack_s, stopped.took_s
    assert stopped.took_s["short of time"] < HASTY_MS / 1000 + slack_s, stopped.took_s
    assert all(each.offset is not None for each in first)
    assert not any(each.offset is not None for each in left)
    complaints = [*oracle.without_outcome(left), *oracle.unclear_failures(left, math.inf)]
    assert not complaints, complaints[:40]
    return stopped


async def tally_of_stopped(kafka: ProxiedKafka, topic: str, stopped: Stopped) -> oracle.Tally:
    """Start the nodes again, and compare their log with the producers' acks."""
    cluster = Cluster(kafka)
    await cluster.heal()
    log = await asyncio.to_thread(read_log, cluster.address, topic, "read_uncommitted")
    complaints = [*oracle.not_where_acked(stopped.sent, log), *oracle.written_twice(log)]
    assert not complaints, complaints[:40]
    await delete_topic(cluster.address, topic)
    return oracle.tally(stopped.sent, log)


async def _send_some(producer: AIOKafkaProducer, topic: str, numbers: Iterable[int]) -> list[Sent]:
    sent = []
    for number in numbers:
        record = Sent(number, number % PARTITIONS, SYSTEM_CLOCK.monotonic())
        ack = await producer.send(topic, b"%d" % number, partition=record.partition)
        ack.add_done_callback(functools.partial(note_outcome, record))
        sent.append(record)
    return sent


def _stopping(cluster: Cluster, **options: Any) -> AIOKafkaProducer:
    return AIOKafkaProducer(
        bootstrap_servers=cluster.address, request_timeout_ms=REQUEST_TIMEOUT_MS, **options
    )


async def _timed_stop(producer: AIOKafkaProducer, stop_ms: int) -> float:
    began_s = SYSTEM_CLOCK.monotonic()
    await producer.stop(stop_ms)
    return SYSTEM_CLOCK.monotonic() - began_s


STRIKING_NODES: tuple[Scenario, ...] = (
    leader_killed,
    leader_terminated,
    leader_frozen,
    rolling_restart,
    all_brokers_down,
)
SCENARIOS = (connections_cut_and_answers_lost, *STRIKING_NODES)
