"""DeleteTopics (key 20), answered by the controller.

v1 is the lowest version since Kafka 4.0 (KIP-896). v4 flexible; v5 error messages and quota errors
(KIP-599); v6 topics by name or id (KIP-516).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DeleteTopicsRequest(
    Request["DeleteTopicsResponse"], api_key=20, versions="1-6", flexible="4+"
):
    """Asks to delete topics."""

    topic_ids_since = 6
    """The first version that names topics by name or by id (KIP-516)."""

    topics: list[DeleteTopicState] = field(
        versions="6+",
        needs="deleting topics by id needs Kafka 2.8 (KIP-516)",
        doc="The topics, by name or id (KIP-516).",
    )
    topic_names: list[String] = field(versions="0-5", ignorable=True, doc="Names of the topics.")
    timeout_ms: Int32 = field(doc="Milliseconds to wait until the topics are gone.")


class DeleteTopicState(Struct):
    """One topic, by name or by id (KIP-516)."""

    name: String | None = field(default=None, doc="Name of the topic; null when given by id.")
    topic_id: Uuid = field(doc="Id of the topic; zero when given by name.")


class DeleteTopicsResponse(Response, api_key=20, versions="1-6", flexible="4+"):
    """The result of each topic."""

    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    responses: list[DeletableTopicResult] = field(doc="The results, by topic.")


class DeletableTopicResult(Struct):
    """The result for one topic."""

    name: String | None = field(
        nullable="6+", doc="Name of the topic; null if it was given by an unknown id."
    )
    topic_id: Uuid = field(versions="6+", ignorable=True, doc="Id of the topic (KIP-516).")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="What went wrong, in the broker's words, or null.",
    )


__all__ = [
    "DeletableTopicResult",
    "DeleteTopicState",
    "DeleteTopicsRequest",
    "DeleteTopicsResponse",
]
