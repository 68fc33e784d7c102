"""One node's fetches: the task `fetch[node]`, which awaits each round.

A poll begins a round, and its request leaves in that call. The response is filed where its bytes
are read. So no turn of the loop is added on the way of a record: the task is woken when a round is
over, or when its request has to wait for a connection, a backoff or a throttle. The second fetch of
a poll is such a round, too. Source: A1, A2, A10.
"""

import logging
from collections import deque
from functools import partial
from typing import Final

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.fetch.fetch_round import FetchRound
from aiokafka_lite.errors import KafkaError

logger = logging.getLogger(__name__)

_CLOSE_SESSIONS_S: Final = 1.0
"""How long `close_fetches` waits for sessions to close. Closing only frees memory of the broker
(2a-11)."""


class NodeFetcher:
    """The rounds of one node: at most one is planned or in flight (A10)."""

    __slots__ = (
        "_go",
        "_network",
        "_todo",
        "failure",
        "failures",
        "node_id",
        "refusals",
        "retry_at_s",
        "round",
        "round_began_s",
        "task",
        "wait",
    )

    def __init__(self, node_id: int, network: NetworkClient) -> None:
        self.node_id = node_id
        self.task: OwnedTask | None = None
        self.round: FetchRound | None = None
        """The one that is planned or in flight."""
        self.round_began_s = 0.0
        """When it was planned (monotonic)."""
        self.failures = 0
        self.failure = ""
        """The text of the newest failure, while `failures` counts any."""
        self.refusals = 0
        self.retry_at_s = 0.0
        self.wait: LongWait | None = None
        """Since the first of these failures and refusals."""
        self._network = network
        self._todo: deque[FetchRound] = deque()
        self._go = Wakeup()

    def hand(self, fetch_round: FetchRound) -> None:
        """Let the task look at a round that is over, or whose request has to wait."""
        self._todo.append(fetch_round)
        self._go.set()

    async def run(self) -> None:
        """Await the rounds, one after the other. Raises: an unexpected error of one of them, which
        ends the client.
        """
        while True:
            await self._go.wait()
            while self._todo:
                fetch_round = self._todo.popleft()
                if fetch_round.is_over:
                    await fetch_round
                else:
                    await self._send(fetch_round)  # its end comes here again

    async def _send(self, fetch_round: FetchRound) -> None:
        """Send a request that has to wait for a connection, a backoff or a throttle."""
        try:
            await self._network.send(self.node_id, fetch_round, Lane.FETCH)
        except KafkaError as error:
            fetch_round.fail(error)


async def close_fetches(
    nodes: list[NodeFetcher], ends: list[FetchRound], client: KafkaClient, timeout_s: float
) -> None:
    """Drop the fetches in flight, then close the sessions by their last requests, `ends`, within
    `timeout_s` seconds.

    Sessions that cannot be closed are only logged. Idempotent. Cancelled: the sessions stay open
    until the broker drops them.
    """
    busy = {node.node_id for node in nodes if node.round is not None}
    tasks = [node.task for node in nodes if node.task is not None]
    for task in tasks:
        task.cancel()
    for task in tasks:
        await task.wait()
    if not ends:
        return
    try:
        async with deadline(client.clock, min(timeout_s, _CLOSE_SESSIONS_S)):
            await side_by_side(
                # In the lane of a fetch in flight, the request would wait for its response.
                partial(
                    _close_session,
                    client.network,
                    end,
                    Lane.GENERAL if end.node_id in busy else Lane.FETCH,
                )
                for end in ends
            )
    except TimeoutError:
        logger.debug("fetch sessions were not closed within %.1f s", timeout_s)


async def _close_session(network: NetworkClient, end: FetchRound, lane: Lane) -> None:
    if network.ready_delay(end.node_id, lane):
        return  # the node cannot be reached; the broker will drop the session by itself
    try:
        await network.send(end.node_id, end, lane)
        await end
    except KafkaError as error:
        logger.debug("closing the fetch session of node %d: %s", end.node_id, error)


__all__ = ["NodeFetcher", "close_fetches"]
