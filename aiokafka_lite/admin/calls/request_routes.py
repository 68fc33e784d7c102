"""Finds the node for each item of an admin call: the controller, a leader, a coordinator, any node.

A route asks anew at each attempt, so it follows each move. It keeps nothing of the answers.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Final, Generic, TypeAlias, TypeVar

from aiokafka_lite.admin.calls.outcomes import broker_error, raise_broker_error
from aiokafka_lite.checks.quoted import number, quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    KafkaError,
    LeaderNotAvailableError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

K = TypeVar("K", bound=Hashable)

_TRIES: Final = 4
"""How many nodes may be silent, one after the other, within request_timeout_ms."""
_NO_LEADER: Final = (BrokerNotAvailableError, LeaderNotAvailableError)
"""How metadata says that no broker leads a partition now. Another may a moment later."""


@dataclass(frozen=True, slots=True)
class Located(Generic[K]):
    """The node of each item. None stands for any node. `failures` has the items without a node."""

    nodes: dict[int | None, list[K]]
    failures: dict[K, KafkaError] = field(default_factory=dict)


Route: TypeAlias = Callable[[Sequence[K], int], Awaitable[Located[K]]]
"""Takes items and the number of failed attempts so far, and returns where to ask.

It raises a KafkaError if it could not find out; a retriable one is tried again.
"""


class RequestRoutes:
    """The routes of one client's admin calls."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self._patience_s = client.config.request_timeout_ms / 1000 / _TRIES

    async def any_node(self, keys: Sequence[K], attempt: int) -> Located[K]:  # noqa: ARG002
        """Ask the least loaded node for all."""
        return Located({None: list(keys)})

    async def controller(self, keys: Sequence[K], attempt: int) -> Located[K]:
        """Ask the node that accepts changes. A KRaft broker names any node, which forwards them."""
        metadata = self._client.metadata
        snapshot = await metadata.refresh() if attempt else metadata.snapshot
        return Located({snapshot.controller_id: list(keys)})

    def node(self, node_of: Callable[[K], int]) -> Route[K]:
        """Return the route that asks the node `node_of(item)`."""

        async def route(keys: Sequence[K], attempt: int) -> Located[K]:
            metadata = self._client.metadata
            known = (await metadata.refresh() if attempt else metadata.snapshot).nodes
            if not all(node_of(key) in known for key in keys):
                known = (await metadata.refresh()).nodes
            located: Located[K] = Located(defaultdict(list))
            for key in keys:
                if node_of(key) in known:
                    located.nodes[node_of(key)].append(key)
                else:
                    located.failures[key] = _no_broker(node_of(key), known)
            return located

        return route

    async def leader(self, keys: Sequence[TopicPartition], attempt: int) -> Located[TopicPartition]:  # noqa: ARG002
        """Ask the leader of each partition. Creates no topic."""
        topics = [MetadataRequestTopic(name=name) for name in dict.fromkeys(tp[0] for tp in keys)]
        answer = await self._client.network.request_any(
            MetadataRequest(topics=topics, allow_auto_topic_creation=False),
            timeout_s=self._patience_s,
        )
        raise_broker_error(answer.error_code, None, "the leaders of partitions")
        leaders: dict[tuple[str, int], int] = {}
        errors: dict[tuple[str, int] | str, KafkaError] = {}
        for topic in answer.topics:
            name = topic.name or ""
            error = broker_error(topic.error_code, None, f"topic {quoted(name)}")
            if error is not None:
                errors[name] = error
            for each in topic.partitions:
                index = each.partition_index
                leaders[name, index] = each.leader_id
                if each.error_code and each.leader_id < 0:
                    error = broker_error(each.error_code, None, f"partition '{name}-{index}'")
                    assert error is not None  # the code is not 0
                    errors[name, index] = error
        located: Located[TopicPartition] = Located(defaultdict(list))
        for key in keys:
            node_id = leaders.get((key[0], key[1]))
            if node_id is not None and node_id >= 0:
                located.nodes[node_id].append(key)
                continue
            why = errors.get(key[0]) or errors.get((key[0], key[1]))
            if why is None or isinstance(why, _NO_LEADER):
                why = _no_leader(key, node_id if why is None else -1)
            located.failures[key] = why
        if any(node_id not in self._client.metadata.snapshot.nodes for node_id in located.nodes):
            await self._client.metadata.refresh()  # a node that is new in the cluster
        return located

    def coordinator(self, key_type: CoordinatorType) -> Route[str]:
        """Return the route that asks the coordinator of each group or transactional id."""

        async def route(keys: Sequence[str], attempt: int) -> Located[str]:  # noqa: ARG001
            located: Located[str] = Located(defaultdict(list))
            for found in await self._coordinators(key_type, keys):
                subject = f"{key_type.name.lower()} {quoted(found.key)}"
                error = broker_error(found.error_code, found.error_message, subject)
                if error is None:
                    located.nodes[found.node_id].append(found.key)
                else:
                    located.failures[found.key] = error
            known = self._client.metadata.snapshot.nodes
            if any(node_id not in known for node_id in located.nodes):
                await self._client.metadata.refresh()  # a node that is new in the cluster
            return located

        return route

    async def _coordinators(
        self, key_type: CoordinatorType, keys: Sequence[str]
    ) -> Sequence[Coordinator]:
        network = self._client.network
        with suppress(UnsupportedVersionError):  # a broker before 3.0
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=list(keys))
            answer = await network.request_any(request, timeout_s=self._patience_s)
            return answer.coordinators
        found = []
        one_key = FindCoordinatorRequest.keys_since - 1
        for key in keys:
            one = await network.request_any(
                FindCoordinatorRequest(key=key, key_type=key_type),
                timeout_s=self._patience_s,
                max_version=one_key,
            )
            found.append(
                Coordinator(
                    key=key,
                    node_id=one.node_id,
                    host=one.host,
                    port=one.port,
                    error_code=one.error_code,
                    error_message=one.error_message,
                )
            )
        return found


def _no_broker(node_id: int, known: Iterable[int]) -> KafkaError:
    ids = ", ".join(map(str, sorted(known)))
    return BrokerNotAvailableError(
        f"broker {number(node_id)} is not in the cluster, which has {ids or 'none'} now; start it, "
        "or name another one"
    )


def _no_leader(key: TopicPartition, node_id: int | None) -> KafkaError:
    if node_id is None:
        return UnknownTopicOrPartitionError(f"there is no partition {key[0]}-{key[1]}")
    return LeaderNotAvailableError(f"partition {key[0]}-{key[1]} has no leader now")


__all__ = ["Located", "RequestRoutes", "Route"]
