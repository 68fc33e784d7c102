"""Remembers which node coordinates which group or transactional id.

The cache asks any node, with one request per key at a time. Its users tell it when a node turns out
not to be the coordinator. Only `find` waits.
"""

import logging
import math
from enum import IntEnum

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.single_flight import SingleFlight
from aiokafka_lite.errors import KafkaError, NodeNotReadyError, for_code
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest

logger = logging.getLogger(__name__)


class CoordinatorType(IntEnum):
    """The kind of a key, as FindCoordinator numbers it."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_Key = tuple[CoordinatorType, str]


class CoordinatorCache:
    """The coordinators of one client's groups and transactional ids."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self._nodes: dict[_Key, int] = {}
        self._flights: dict[_Key, SingleFlight[int]] = {}
        self._is_lost: set[_Key] = set()
        self.last_answer_s = -math.inf
        """When a coordinator last answered, with an error or without. See `note_answer`."""
        self.last_failure: KafkaError | None = None
        """Why the newest search for a coordinator failed; None when it succeeded."""

    def note_answer(self) -> None:
        """Note that a coordinator has answered a request which the cache did not send."""
        self.last_answer_s = self._client.clock.monotonic()

    def known(self, key_type: CoordinatorType, key: str) -> int | None:
        """Return the coordinator's node id; None when it has to be found."""
        return self._nodes.get((key_type, key))

    def forget(
        self, key_type: CoordinatorType, key: str, why: object, *, failed: int | None = None
    ) -> None:
        """Forget the coordinator, which has moved or does not answer. `find` then asks again.

        `failed`: the node that failed. If the cache knows another node by now, that one stays. So
        does a node that was not asked because it throttles the client: it answers later.
        """
        node_id = self._nodes.get((key_type, key))
        if failed is not None and isinstance(why, NodeNotReadyError):
            throttle_left = self._client.network.throttle_left
            if any(throttle_left(failed, lane) > 0 for lane in Lane):
                return
        if node_id is not None and failed in (None, node_id):
            del self._nodes[key_type, key]
            self._is_lost.add((key_type, key))
            logger.info(
                "%s: coordinator of %s %r was node %d, looking for it again: %s",
                self._client.config.client_id,
                key_type.name.lower(),
                key,
                node_id,
                reason_of(why) if isinstance(why, BaseException) else why,
            )

    async def find(self, key_type: CoordinatorType, key: str, timeout_s: float) -> int:
        """Return the coordinator's node id. If it is not known, ask until a node names it.

        Raises: KafkaTimeoutError, with the last failure, if no node named it within `timeout_s`;
        an error that is not retriable, such as GroupAuthorizationFailedError or
        InvalidGroupIdError, at once; IllegalStateError if the client closes meanwhile.
        Cancelled: a request that is on its way goes on for the next caller.
        """
        node_id = self.known(key_type, key)
        if node_id is not None:
            return node_id
        flight = self._flights.get((key_type, key))
        if flight is None:
            name = f"find_coordinator[{key_type.name.lower()} {key}]"
            flight = self._flights[key_type, key] = SingleFlight(self._client.owner, name)

        async def ask_once() -> int:
            try:
                node_id = await flight.run(lambda: self._ask(key_type, key))
            except KafkaError as error:
                self.last_failure = error
                raise
            self.last_failure = None
            return node_id

        return await self._client.ask_until_answered(
            ask_once,
            timeout_s,
            what=f"coordinator of {key_type.name.lower()} {quoted(key)}",
            api="FindCoordinator",
            remedy="check the connection to the brokers, or raise the timeout",
        )

    async def _ask(self, key_type: CoordinatorType, key: str) -> int:
        request = FindCoordinatorRequest(key=key, key_type=key_type)
        # Every broker since 2.4 knows this version, and there is only ever one key to ask for.
        one_key = FindCoordinatorRequest.keys_since - 1
        answer = await self._client.network.request_any(request, max_version=one_key)
        self.note_answer()
        if answer.error_code:
            error = for_code(answer.error_code)
            raise error(
                f"looking for the coordinator of {key_type.name.lower()} {quoted(key)}: "
                f"{error.explained(answer.error_message)}"
            )
        node_id = answer.node_id
        if node_id not in self._client.metadata.snapshot.nodes:
            # The node joined the cluster after the newest metadata.
            self._client.metadata.request_update()
            raise NodeNotReadyError(
                f"node {node_id} coordinates {quoted(key)} and is not in the metadata yet"
            )
        if (key_type, key) in self._is_lost:
            self._is_lost.discard((key_type, key))
            logger.info(
                "%s: coordinator of %s %r is node %d",
                self._client.config.client_id,
                key_type.name.lower(),
                key,
                node_id,
            )
        self._nodes[key_type, key] = node_id
        return node_id


__all__ = ["CoordinatorCache", "CoordinatorType"]
