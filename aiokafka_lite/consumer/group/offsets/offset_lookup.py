"""Asks the group's coordinator for committed offsets.

The requests use the general connection: none waits behind a long fetch or a JoinGroup.
Source: 2e-15, KIP-447, ConsumerCoordinator.
"""

from collections.abc import Callable, Collection

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.group.group_errors import OFFSET_FETCH_ACTIONS, Action
from aiokafka_lite.consumer.group.offsets.offset_exchange import (
    fetch_error,
    fetch_request,
    fetched_offsets,
    knows_topic_ids,
)
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import (
    KafkaError,
    StaleMemberEpochError,
    UnknownMemberIdError,
    UnsupportedVersionError,
    for_code,
)
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition, names_of
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

_MEMBER_CHANGED = (StaleMemberEpochError.errno, UnknownMemberIdError.errno)


class OffsetLookup:
    """Finds the committed offsets of one group.

    `member()` returns the ids of a member that has an epoch (KIP-848), or None.
    """

    def __init__(
        self,
        client: KafkaClient,
        cache: CoordinatorCache,
        group_id: str,
        member: Callable[[], ConsumerGroupMetadata | None] = lambda: None,
    ) -> None:
        self._client = client
        self._cache = cache
        self._group_id = group_id
        self._member = member

    async def fetch_committed(
        self, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, CommittedOffset | None]:
        """Return the group's offset of each partition, None where nothing is committed. Asks once,
        and again while the epoch of the member changes.

        Raises: KafkaError; a retriable one means that asking again may help, such as
        UnstableOffsetCommitError while a transaction holds an offset. Cancelled: nothing stays
        behind. Source: 2e-15, KIP-447.
        """
        timeout_s = self._client.config.request_timeout_ms / 1000
        node_id = await self._cache.find(CoordinatorType.GROUP, self._group_id, timeout_s)
        snapshot = self._client.metadata.snapshot
        attempts = 0
        with self._client.waits.of(
            f"the coordinator of group {quoted(self._group_id)} to tell offsets (OffsetFetch)",
            "check that node, and the topic __consumer_offsets",
        ) as wait:
            while True:
                member = self._member()
                try:
                    response = await self._ask(node_id, partitions, snapshot, member)
                except KafkaError as error:
                    if error.retriable:
                        self._forget_coordinator(error, failed=node_id)
                    raise
                code = fetch_error(response)
                if member is None or code not in _MEMBER_CHANGED:
                    break
                wait.failed(for_code(code)())
                await self._client.clock.sleep(self._client.retry_backoff.delay(attempts))
                attempts += 1
        self._raise_fetch_error(fetch_error(response), partitions)
        found = dict(fetched_offsets(response, snapshot))
        for tp, fetched in found.items():
            self._raise_fetch_error(fetched.error_code, [tp])
        return {tp: found[tp].committed if tp in found else None for tp in partitions}

    async def _ask(
        self,
        node_id: int,
        partitions: Collection[TopicPartition],
        snapshot: MetadataSnapshot,
        member: ConsumerGroupMetadata | None,
    ) -> OffsetFetchResponse:
        client, group_id = self._client, self._group_id
        has_ids = knows_topic_ids({tp.topic for tp in partitions}, snapshot)
        version = client.network.max_version(node_id, OffsetFetchRequest)
        if version is None:  # never connected: what nearly every broker understands
            try:
                stable = OffsetFetchRequest.stable_since
                request = fetch_request(group_id, partitions, snapshot, stable)
                return await client.network.request(node_id, request, max_version=stable)
            except UnsupportedVersionError:
                version = client.network.max_version(node_id, OffsetFetchRequest)
                if version is None:
                    raise
        if not has_ids:
            version = min(version, OffsetFetchRequest.topic_ids_since - 1)
        request = fetch_request(group_id, partitions, snapshot, version, member)
        return await client.network.request(node_id, request, max_version=version)

    def _raise_fetch_error(self, error_code: int, partitions: Collection[TopicPartition]) -> None:
        if not error_code:
            return
        action, error = OFFSET_FETCH_ACTIONS.action_for(error_code)
        if action is Action.FIND_COORDINATOR:
            self._forget_coordinator(error.message)
        if error.invalid_metadata:
            self._client.metadata.request_update()
        named = names_of(sorted(partitions))
        text = (
            f"asking for the committed offsets of {named} in group {quoted(self._group_id)}: "
            f"{error.description}"
        )
        if action is Action.RAISE and error.retriable:
            # Kafka calls it retriable; for a commit's owner it is an answer (2e-15).
            raise KafkaError(f"{error.message} while {text}")
        raise error(text)

    def _forget_coordinator(self, why: object, failed: int | None = None) -> None:
        self._cache.forget(CoordinatorType.GROUP, self._group_id, why, failed=failed)


__all__ = ["OffsetLookup"]
