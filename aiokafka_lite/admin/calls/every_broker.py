"""Asks every broker of a cluster, for calls whose answer is spread over all of them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from aiokafka_lite.admin.calls.admin_requests import AdminRequests, AskedNode
from aiokafka_lite.admin.calls.outer_call import OUTER_CALL
from aiokafka_lite.admin.calls.pending_items import closed_meanwhile
from aiokafka_lite.errors import BrokerNotAvailableError, Cancelled
from aiokafka_lite.model import Node

V = TypeVar("V")


async def brokers_now(requests: AdminRequests, what: str, timeout_s: float) -> Mapping[int, Node]:
    """Return the brokers that are in the cluster now, for the call `what`.

    Raises: KafkaConnectionError if the client is closed meanwhile; as `refresh` of the metadata.
    """
    try:
        return (await requests.client.metadata.refresh(timeout_s)).nodes
    except Cancelled as error:
        raise closed_meanwhile(OUTER_CALL.get() or what) from error


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
        brokers = await brokers_now(requests, what, ends_s - clock.monotonic())
        answers = await requests.for_each(
            what,
            brokers,
            requests.routes.node(lambda broker: broker),
            ask_one,
            timeout_s=ends_s - clock.monotonic(),
        )
        for broker, error in answers.failed.items():
            has_left = broker not in requests.client.metadata.snapshot.nodes
            if not (has_left and isinstance(error, BrokerNotAvailableError)):
                raise error
            break
        else:
            return answers.succeeded


__all__ = ["ask_every_broker", "brokers_now"]
