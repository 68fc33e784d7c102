"""Owns the fetches in flight: at most one per node, and each a round that a poll has planned.

The poll plans a round without waiting: which nodes are asked, and for which offsets. It sends the
planned requests in the same call. The callback that reads a response files it into the buffer. So a
poll that times out or is cancelled leaves its fetch running. No round starts by itself. The second
fetch of a poll is such a round. Source: A1, A2, A10.

A round has a task only if its request has to wait for a connection, a backoff or a throttle. A task
for each round would cost one turn of the event loop at each end of it. An unexpected error in the
callback ends the client, as in a task.
"""

import logging
from collections.abc import Collection
from contextlib import suppress
from functools import partial

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.consumer.fetch.fetch_response import wants
from aiokafka_lite.consumer.fetch.fetch_rounds import FetchRounds, NodeFetches
from aiokafka_lite.consumer.fetch.fetch_session import FetchSession
from aiokafka_lite.consumer.fetch.planned_fetch import PlannedFetch
from aiokafka_lite.consumer.position.leader_watch import missed
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

_CLOSE_SESSIONS_S = 1.0
"""How long `close` waits for sessions to close. Closing only frees memory of the broker (2a-11)."""


class Fetcher(FetchRounds):
    """Runs the rounds of fetches that polls plan, and files the responses into the buffer."""

    # For the poll; none of these waits…

    def want(self, partitions: Collection[TopicPartition]) -> None:
        """Note that a poll of `partitions` begins; if none is named, of all."""
        self._planner.want(partitions)

    def start_fetches_for(self, wanted: Collection[TopicPartition]) -> float | None:
        """Drop unread data that keeps `wanted` from being fetched, then `start_fetches`.

        It is called if all running polls want only `wanted` and found none of it buffered.
        """
        clock = self._client.clock
        self._planner.make_room_for(wanted, self._client.metadata.snapshot, clock.monotonic())
        return self.start_fetches()

    @property
    def pending_fetches(self) -> frozenset[PlannedFetch]:
        """The fetches that were started and have no response yet, at most one per node."""
        return frozenset(node.planned for node in self._nodes.values() if node.planned is not None)

    @property
    def leaderless(self) -> tuple[TopicPartition, ...]:
        """The partitions that the newest round did not fetch because they had no known leader.

        Only those that `leader_watch.missed` finds worth an error for the user."""
        return missed(self._leaderless, self._subscription, self._client.metadata.snapshot)

    def free_partitions(self) -> list[TopicPartition]:
        """Return the partitions that a fetch may ask for, in queue order."""
        return self._planner.free_partitions(self._client.clock.monotonic())

    def was_dropped(self, tp: TopicPartition) -> bool:
        """Say whether the partition is not fetched because its data was dropped unread."""
        return self._planner.was_dropped(tp)

    def is_asked_for(self, tp: TopicPartition, node_id: int) -> bool:
        """Say whether the newest request to the node asks for the partition."""
        return tp in self._planner.session(node_id).partitions

    def failure_of(self, node_id: int) -> str:
        """Return why the newest fetch from the node failed; "" if it did not."""
        node = self._nodes.get(node_id)
        return node.failure if node is not None and node.failures else ""

    def take_error(self) -> KafkaError | None:
        """Return a failure that the poll must raise, once.

        A response that was too large is not raised if one of its partitions was sought or taken
        away since. The next response may fit; if it does not, its error is raised.
        """
        if self._error is None:
            return None
        error, self._error = self._error, None
        asked, self._asked = self._asked, {}
        for tp, partition in asked.items():
            state = self._subscription.get(tp)
            if state is None or not wants(state, partition):
                return None
        return error

    # Rounds…

    def _begin_waiting(self, node: NodeFetches, planned: PlannedFetch) -> None:
        name = f"fetch[{node.node_id}]"
        node.task = self._client.owner.spawn(name, self._send_when_possible, node, planned)

    def _report_fault(self, node: NodeFetches, fault: Exception) -> None:
        with suppress(KafkaError):  # the client has failed or ended already
            node.task = self._client.owner.spawn(f"fetch[{node.node_id}]", _fail_with, fault)

    async def _send_when_possible(self, node: NodeFetches, planned: PlannedFetch) -> None:
        try:
            response = await self._client.network.request(
                node.node_id, planned.request, lane=Lane.FETCH, max_version=planned.max_version
            )
        except KafkaError as error:
            self._failed(node, error)
        else:
            self._answered(node, response)
        self._end_round(node)

    # The end…

    async def close(self, timeout_s: float) -> None:
        """Drop the fetches in flight, then close the sessions, within `timeout_s` seconds.

        Sessions that cannot be closed are only logged. Idempotent. Cancelled: the sessions stay
        open until the broker drops them.
        """
        self._is_closed = True
        busy = {node.node_id for node in self._nodes.values() if node.planned is not None}
        tasks = [node.task for node in self._nodes.values() if node.task is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            await task.wait()
        sessions = self._planner.open_sessions()
        if sessions:
            await self._close_sessions(sessions, busy, min(timeout_s, _CLOSE_SESSIONS_S))

    async def _close_sessions(
        self, sessions: list[FetchSession], busy: set[int], timeout_s: float
    ) -> None:
        try:
            async with deadline(self._client.clock, timeout_s):
                await side_by_side(
                    # In the lane of a fetch in flight, the request would wait for its response.
                    partial(
                        self._close_session,
                        session,
                        Lane.GENERAL if session.node_id in busy else Lane.FETCH,
                    )
                    for session in sessions
                )
        except TimeoutError:
            logger.debug("fetch sessions were not closed within %.1f s", timeout_s)

    async def _close_session(self, session: FetchSession, lane: Lane) -> None:
        planned = self._planner.plan_close(session)
        if self._client.network.ready_delay(planned.node_id, lane):
            return  # the node cannot be reached; the broker will drop the session by itself
        try:
            await self._client.network.request(
                planned.node_id, planned.request, lane=lane, max_version=planned.max_version
            )
        except KafkaError as error:
            logger.debug("closing the fetch session of node %d: %s", planned.node_id, error)


async def _fail_with(fault: Exception) -> None:
    raise fault


__all__ = ["Fetcher"]
