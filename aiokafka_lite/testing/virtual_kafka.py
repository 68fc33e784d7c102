"""Runs a program, its clients and an embedded cluster in virtual time: hours take milliseconds.

The event loop is a `VirtualLoop`, so no socket is opened and nothing waits for real time.
"""

import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_loop import LeftBehindError, StuckError, run_virtual
from aiokafka_lite.testing.virtual_network import VirtualNetwork

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.testing.broker import EmbeddedBrokerOptions

T = TypeVar("T")
MAX_TIME_S = 4 * 3600.0
MAX_TURNS = 1_000_000


@dataclass(frozen=True, slots=True)
class VirtualKafka:
    """What a program in virtual time works with."""

    broker: EmbeddedBroker
    """The cluster, which has started."""
    clock: FakeClock
    """The time of the cluster and of the loop; clients take it as `clock=`."""
    network: VirtualNetwork
    """Between clients and nodes: `latency_s`, `bytes_per_s`, `isolate(client_id)`,
    `reconnect(client_id)`.
    """
    rng: random.Random
    """Chance of the run; clients take it as `rng=`."""

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of the nodes, for a client's `bootstrap_servers`."""
        return self.broker.bootstrap_servers

    @property
    def client_options(self) -> dict[str, Any]:
        """What each client needs: `AIOKafkaProducer(**kafka.client_options)`."""
        return {"bootstrap_servers": self.bootstrap_servers, "clock": self.clock, "rng": self.rng}


def run_virtual_kafka(
    main: Callable[[VirtualKafka], Coroutine[Any, Any, T]],
    *,
    nodes: int = 1,
    seed: int = 0,
    max_time_s: float = MAX_TIME_S,
    max_turns: int = MAX_TURNS,
    **options: "Unpack[EmbeddedBrokerOptions]",
) -> T:
    """Run `main(kafka)` beside a cluster of `nodes`, in virtual time, and return its result.

        def test_delivery_timeout(virtual_kafka):
            async def main(kafka):
                async with AIOKafkaProducer(**kafka.client_options) as producer:
                    ...

            virtual_kafka(main)

    Time jumps as soon as every task waits, also for `asyncio.sleep`. The same program with the same
    `seed` always runs the same way. Real sockets, subprocesses and signals do not work in it, and
    functions for threads run at once. `options` are those of `EmbeddedBroker`, without TLS.

    Raises: the error of `main`; StuckError if every task waits for nothing, or if it takes longer
    than `max_time_s` of virtual time or `max_turns` of the loop; LeftBehindError if it leaves a
    client, a task or a timer behind; ValueError for a `security` with TLS.
    """
    if options.get("security") in ("SSL", "SASL_SSL"):
        raise ValueError(
            f"security={options['security']!r} is not for virtual time, which has no TLS; use"
            " PLAINTEXT or SASL_PLAINTEXT, or a broker on real sockets"
        )

    async def beside_a_cluster(clock: FakeClock, network: VirtualNetwork) -> T:
        rng = random.Random(seed)
        async with EmbeddedBroker(nodes, clock=clock, rng=rng, **options) as broker:
            return await main(VirtualKafka(broker, clock, network, rng))

    return run_virtual(beside_a_cluster, max_time_s=max_time_s, max_turns=max_turns)


__all__ = ["LeftBehindError", "StuckError", "VirtualKafka", "run_virtual_kafka"]
