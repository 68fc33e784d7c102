"""What befalls a producer's cluster, or the way to it, one function per accident.

Each is played on a `Stage`, which checks every rule in the end; the figures are how long it took
until every partition was acknowledged again, and the longest time that one was not.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable

from aiokafka_lite.clock import SYSTEM_CLOCK
from tests.producer_faults import STEADY_S, Stage, Writer
from tests.unreliable_network import Accident, UnreliableNetwork

Scenario = Callable[[Stage], Awaitable[None]]

FREEZE_S = 6.0
OUTAGE_S = 8.0
ACCIDENTS = 12
HASTY_MS = 4000
PATIENT_MS = 60_000  # eight seconds, and as long as a busy machine takes to start three nodes


async def leader_killed(stage: Stage) -> None:
    """kill -9 of a node that leads partitions, and it comes back."""
    writer = await stage.writer()
    node = await stage.leader_of(writer)
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.cluster.kill([node])
    stage.figures["resumed"] = await writer.resumed(since_s)
    await stage.cluster.heal()
    await _goes_on_without_failures(writer)


async def leader_terminated(stage: Stage) -> None:
    """SIGTERM of a node that leads partitions, and it comes back."""
    writer = await stage.writer()
    node = await stage.leader_of(writer)
    since_s = SYSTEM_CLOCK.monotonic()
    await asyncio.to_thread(node.stop)
    stage.figures["resumed"] = await writer.resumed(since_s)
    await stage.cluster.heal()
    await _goes_on_without_failures(writer)


async def leader_frozen(stage: Stage) -> None:
    """A node that leads partitions stands still for six seconds."""
    writer = await stage.writer()
    node = await stage.leader_of(writer)
    assert node.process is not None
    since_s = SYSTEM_CLOCK.monotonic()
    node.process.send_signal(signal.SIGSTOP)
    try:
        await asyncio.sleep(FREEZE_S)
    finally:
        node.process.send_signal(signal.SIGCONT)
    stage.figures["resumed"] = await writer.resumed(since_s)
    await _goes_on_without_failures(writer)


async def rolling_restart(stage: Stage) -> None:
    """One node after the other is restarted, each when the one before has caught up."""
    writer = await stage.writer()
    for node in stage.cluster.kafka.nodes:
        await asyncio.to_thread(node.stop)
        await stage.cluster.heal()
    await _goes_on_without_failures(writer)


async def all_brokers_down(stage: Stage) -> None:
    """All nodes are killed for eight seconds: who is patient loses nothing, who is hasty hears in
    time what was not written.
    """
    patient = await stage.writer("patient", delivery_timeout_ms=PATIENT_MS)
    hasty = await stage.writer("hasty", delivery_timeout_ms=HASTY_MS)
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.cluster.kill(stage.cluster.kafka.nodes)
    await asyncio.sleep(since_s + OUTAGE_S - SYSTEM_CLOCK.monotonic())
    await stage.cluster.heal()
    stage.figures["whole again"] = SYSTEM_CLOCK.monotonic() - since_s
    stage.figures["resumed"] = await patient.resumed(since_s)
    await hasty.resumed()
    assert hasty.failed()
    await _goes_on_without_failures(patient)


async def connections_cut_and_answers_lost(stage: Stage) -> None:
    """The network between the producer and its brokers fails in every way, again and again."""
    async with UnreliableNetwork(stage.kafka) as network:
        writer = await stage.writer(address=stage.kafka.proxied_servers)
        for number in range(ACCIDENTS):
            accident = list(Accident)[number % len(Accident)]
            await network.strike(accident)
            took_s = await writer.resumed()
            what = accident.value
            stage.figures[what] = max(took_s, stage.figures.get(what, 0.0))
        await _goes_on_without_failures(writer)
        writer.end_soon()
        await asyncio.gather(*stage.tasks)


async def _goes_on_without_failures(writer: Writer) -> None:
    await asyncio.sleep(STEADY_S)
    await writer.resumed()
    assert not writer.failed(), writer.failed()[:3]


SCENARIOS: tuple[Scenario, ...] = (
    leader_killed,
    leader_terminated,
    leader_frozen,
    connections_cut_and_answers_lost,
    rolling_restart,
    all_brokers_down,
)
