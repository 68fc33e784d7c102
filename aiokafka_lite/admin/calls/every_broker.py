"""Asks every broker of a cluster, for calls whose answer is spread over all of them."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiokafka_lite.admin.calls.admin_requests import AdminRequests, AskedNode
from aiokafka_lite.errors import BrokerNotAvailableError

V = TypeVar("V")


async def ask_every_broker(
    requests: AdminRequests,
    what: str,
    ask: Callable[[AskedNode], Awaitable[V]],
    *,
    timeout_s: float,
) -> dict[int, V]:
    """Return what each broker of the cluster answers.

    If a broker leaves the cluster meanwhile, what it coordinated has moved to brokers that may have
    answered before. So all are asked again.

    Raises: KafkaTimeoutError or another error of the first broker that gave no result within
    `timeout_s`. A part of the answers is never returned as the whole.
    """
    clock = requests.client.clock
    ends_s = clock.monotonic() + timeout_s

    async def ask_one(node: AskedNode, brokers: list[int]) -> dict[int, V]:
        return {brokers[0]: await ask(node)}

    while True:
        snapshot = await requests.client.metadata.refresh(ends_s - clock.monotonic())
        try:
            answers = await requests.for_each(
                what,
                snapshot.nodes,
                requests.routes.node(lambda broker: broker),
                ask_one,
                timeout_s=ends_s - clock.monotonic(),
            )
            answers.raise_first()
        except BrokerNotAvailableError:
            continue
        return answers.succeeded


__all__ = ["ask_every_broker"]
