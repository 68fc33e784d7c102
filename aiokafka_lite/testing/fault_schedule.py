"""What may hurt a cluster, as values: a `FaultSchedule`, and its play on an embedded broker.

`testing/fault_strategies` finds schedules by hypothesis. The text of a schedule is the code that
makes it, so a schedule that hypothesis has found can be copied into a test. Does not wait.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import Protocol

from aiokafka_lite.clock import Clock
from aiokafka_lite.testing.broker import EmbeddedBroker


@dataclass(frozen=True, slots=True)
class Fail:
    """The next `times` requests of an API are answered with an error."""

    api: str
    error: str
    times: int = 1

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Arm the fault."""
        broker.faults.fail(self.api, self.error, self.times)


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks in the response to the next request, after some bytes."""

    api: str
    after_bytes: int = 0

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Arm the fault."""
        broker.faults.cut(self.api, self.after_bytes)


@dataclass(frozen=True, slots=True)
class Drop:
    """The next request is executed and not answered."""

    api: str

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Arm the fault."""
        broker.faults.drop(self.api)


@dataclass(frozen=True, slots=True)
class Delay:
    """The next request is executed, and answered `seconds` later."""

    api: str
    seconds: float

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Arm the fault."""
        broker.faults.delay(self.api, self.seconds)


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Every connection to a node breaks."""

    node_id: int

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Break them."""
        broker.drop_connections(self.node_id)


@dataclass(frozen=True, slots=True)
class StopNode:
    """A node dies, and others lead its partitions. A node that is down stays so."""

    node_id: int

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Stop the node."""
        if broker.cluster.node(self.node_id).is_alive:
            broker.stop_node(self.node_id)


@dataclass(frozen=True, slots=True)
class StartNode:
    """A node comes back. A node that runs stays so."""

    node_id: int

    def apply_to(self, broker: EmbeddedBroker) -> None:
        """Start the node."""
        broker.start_node(self.node_id)


class ScheduledFault(Protocol):
    """What a schedule consists of: a frozen value that knows what it does to a broker."""

    def apply_to(self, broker: EmbeddedBroker, /) -> None:
        """Hurt the broker."""


@dataclass(frozen=True, slots=True)
class FaultSchedule:
    """Faults, each with the seconds after the beginning at which it happens."""

    faults: tuple[tuple[float, ScheduledFault], ...] = ()

    def __repr__(self) -> str:
        if not self.faults:
            return "FaultSchedule(())"
        lines = "".join(f"\n    ({at_s}, {_text(fault)})," for at_s, fault in self.faults)
        return f"FaultSchedule(({lines}\n))"

    @contextmanager
    def playing(self, broker: EmbeddedBroker, clock: Clock) -> Iterator[None]:
        """Let the faults happen during a with block, by `clock`; end all trouble at its end.

            with schedule.playing(kafka.broker, kafka.clock):
                await producer.send_and_wait("orders", b"1")

        At the end the faults are disarmed and every node runs. Faults whose time has not come by
        then do not happen. Call it in the broker's loop, as in a program of `virtual_kafka`.
        """
        began_s = clock.monotonic()
        timers = [
            clock.call_at(began_s + at_s, partial(fault.apply_to, broker))
            for at_s, fault in self.faults
        ]
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()
            broker.faults.clear()
            for node_id in broker.cluster.nodes:
                broker.start_node(node_id)


def _text(fault: ScheduledFault) -> str:
    """Return a fault as a call without names: Fail('Produce', 'NOT_LEADER_OR_FOLLOWER', 2)."""
    values = [repr(getattr(fault, each.name)) for each in fields(fault)]  # type: ignore[arg-type]
    return f"{type(fault).__name__}({', '.join(values)})"


__all__ = [
    "Cut",
    "Delay",
    "Disconnect",
    "Drop",
    "Fail",
    "FaultSchedule",
    "ScheduledFault",
    "StartNode",
    "StopNode",
]
