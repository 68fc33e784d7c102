"""Calls that create, delete and list topics. Names and answers are aiokafka's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.calls.raw_answer import RawAnswer, code_and_text
from aiokafka_lite.admin.topics.new_topic import NewTopic
from aiokafka_lite.admin.topics.topic_rows import TopicError, TopicErrorCode
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.setting_text import setting_text
from aiokafka_lite.errors import KafkaError, UnsupportedVersionError
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsForSummary,
    CreateTopicsRequest,
)
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.metadata import MetadataRequest


class CreatedTopic(NamedTuple):
    """A topic that was created, or would have been; -1: the node did not say."""

    topic_id: UUID
    num_partitions: int
    replication_factor: int


@dataclass(frozen=True)
class CreateTopicsAnswer(RawAnswer):
    """What `create_topics` did."""

    topic_errors: list[TopicError]
    """One row for each topic, also for those without an error (error_code 0)."""

    topics: Outcomes[str, CreatedTopic]
    """The same by name, with exceptions."""


@dataclass(frozen=True)
class DeleteTopicsAnswer(RawAnswer):
    """What `delete_topics` did."""

    topic_error_codes: list[TopicErrorCode]
    """One row for each topic, also for those without an error (error_code 0)."""

    topics: Outcomes[str | UUID, None]
    """The same by name or id, with exceptions."""


class TopicCalls(AdminFamily):
    """Topics."""

    async def create_topics(
        self,
        new_topics: Sequence[NewTopic],
        timeout_ms: int | None = None,
        validate_only: bool = False,
    ) -> CreateTopicsAnswer:
        """Create topics; with `validate_only` only check whether they could be created.

        A topic that fails keeps no other from being created: `topic_errors` has the code of each,
        `topics.raise_first()` raises. When a response is lost, the call asks again; a topic that
        the lost request created then has TopicAlreadyExistsError. A note of the error tells this.
        What a quota holds back until the end has ThrottlingQuotaExceededError.

        Raises: IllegalArgumentError for anything but a list of NewTopic; UnsupportedVersionError
        for a topic that leaves partitions or replicas to brokers older than 2.4;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: the nodes may create the topics nevertheless.
        Source: KIP-4, KIP-464, KIP-525, KIP-599.
        """
        by_name = {
            topic.name: _creatable(topic) for topic in list_of("new_topics", new_topics, NewTopic)
        }
        by_default = [name for name, topic in by_name.items() if _has_defaults(topic)]
        throttles_ms = [0]

        async def ask(node: AskedNode, names: list[str]) -> Mapping[str, CreatedTopic | KafkaError]:
            if by_default:
                _check_defaults(by_default, await node.version_of(CreateTopicsRequest))
            request = CreateTopicsForSummary(
                topics=[by_name[name] for name in names],
                timeout_ms=node.left_ms,
                validate_only=validate_only,
            )
            response = await node.request(request)
            throttles_ms.append(response.throttle_time_ms)
            return {each.name: _created(each) for each in response.topics}

        requests = self._running()
        topics = await requests.for_each(
            "create_topics()",
            by_name,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms or None),
        )
        rows = [TopicError(name, *code_and_text(each)) for name, each in topics.items()]
        return CreateTopicsAnswer(max(throttles_ms), rows, topics)

    async def delete_topics(
        self, topics: Sequence[str | UUID], timeout_ms: int | None = None
    ) -> DeleteTopicsAnswer:
        """Delete topics with their records, each by its name or its id.

        A topic that fails keeps no other from being deleted: `topic_error_codes` has the code of
        each, `topics.raise_first()` raises. When a response is lost, the call asks again; a topic
        that the lost request deleted then has UnknownTopicOrPartitionError, with a note.

        Raises: IllegalArgumentError for anything but a list of names and ids, such as one name;
        UnsupportedVersionError for ids if the brokers are older than 2.8; otherwise as
        `create_topics`.
        Cancelled: the nodes may delete the topics nevertheless.
        Source: KIP-4, KIP-516.
        """
        throttles_ms = [0]

        async def ask(
            node: AskedNode, keys: list[str | UUID]
        ) -> Mapping[str | UUID, KafkaError | None]:
            by_name = [key for key in keys if isinstance(key, str)]
            version = await node.version_of(DeleteTopicsRequest)
            has_states = version is None or version >= DeleteTopicsRequest.topic_ids_since
            states = [
                DeleteTopicState(topic_id=key)
                if isinstance(key, UUID)
                else DeleteTopicState(name=key)
                for key in keys
                if has_states or isinstance(key, UUID)  # to which older versions say why not
            ]
            request = DeleteTopicsRequest(
                topics=states, topic_names=by_name, timeout_ms=node.left_ms
            )
            response = await node.request(request)
            throttles_ms.append(response.throttle_time_ms)
            by_id = {key for key in keys if isinstance(key, UUID)}
            return {
                (each.topic_id if each.topic_id in by_id else each.name or ""): broker_error(
                    each.error_code,
                    each.error_message,
                    f"topic {quoted(each.name or each.topic_id)}",
                )
                for each in response.responses
            }

        requests = self._running()
        done = await requests.for_each(
            "delete_topics()",
            list_of("topics", topics, str, UUID),
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms or None),
            settling_s=0.0,
        )
        rows = [TopicErrorCode(str(key), code_and_text(each)[0]) for key, each in done.items()]
        return DeleteTopicsAnswer(max(throttles_ms), rows, done)

    async def list_topics(self, timeout_ms: int | None = None) -> list[str]:
        """Return the names of all topics that the user may describe, Kafka's own included.

        Raises: as `create_topics`. Cancelled: nothing is left behind.
        """

        async def ask(node: AskedNode) -> list[str]:
            answer = await node.request(
                MetadataRequest(topics=None, allow_auto_topic_creation=False)
            )
            raise_broker_error(answer.error_code, None, "list_topics()")
            return [topic.name or "" for topic in answer.topics]

        requests = self._running()
        return await requests.one(
            "list_topics()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )


def _creatable(topic: NewTopic) -> CreatableTopic:
    subject = f"topic {quoted(topic.name)}"
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=[
            CreatableReplicaAssignment(
                partition_index=index,
                broker_ids=list_of(f"replica_assignments of {subject}", brokers, int),
            )
            for index, brokers in topic.replica_assignments.items()
        ],
        configs=[
            CreatableTopicConfig(
                name=name, value=None if value is None else setting_text(name, value, subject)
            )
            for name, value in topic.topic_configs.items()
        ],
    )


def _has_defaults(topic: CreatableTopic) -> bool:
    return not topic.assignments and -1 in (topic.num_partitions, topic.replication_factor)


def _check_defaults(names: Sequence[str], version: int | None) -> None:
    """Raise UnsupportedVersionError if brokers of that version have no defaults for new topics."""
    if version is not None and version < CreateTopicsRequest.defaults_since:
        raise UnsupportedVersionError(
            f"a topic with the brokers' own number of partitions or replicas needs Kafka 2.4"
            f" (KIP-464); name both for {', '.join(map(repr, names[:5]))}"
        )


def _created(result: CreatableTopicResult) -> CreatedTopic | KafkaError:
    error = broker_error(result.error_code, result.error_message, f"topic {quoted(result.name)}")
    return error or CreatedTopic(result.topic_id, result.num_partitions, result.replication_factor)


__all__ = [
    "CreateTopicsAnswer",
    "CreatedTopic",
    "DeleteTopicsAnswer",
    "TopicCalls",
]
