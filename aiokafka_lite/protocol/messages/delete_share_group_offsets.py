"""DeleteShareGroupOffsets (key 92): an empty share group forgets topics (KIP-932)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DeleteShareGroupOffsetsRequest(
    Request["DeleteShareGroupOffsetsResponse"], api_key=92, versions="0", flexible="0+"
):
    """Names topics whose offsets the group shall forget."""

    needs = "Kafka 4.1 (KIP-932)"

    group_id: String = field(doc="The group.")
    topics: list[DeleteShareGroupOffsetsRequestTopic] = field(doc="The topics.")


class DeleteShareGroupOffsetsRequestTopic(Struct):
    """One topic."""

    topic_name: String = field(doc="Name of the topic.")


class DeleteShareGroupOffsetsResponse(Response, api_key=92, versions="0", flexible="0+"):
    """The result of each topic, or an error of the whole group."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or the error of the whole group.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    responses: list[DeleteShareGroupOffsetsResponseTopic] = field(doc="The results, by topic.")


class DeleteShareGroupOffsetsResponseTopic(Struct):
    """The result for one topic."""

    topic_name: String = field(doc="Name of the topic.")
    topic_id: Uuid = field(doc="Id of the topic.")
    error_code: Int16 = field(doc="0, or why the offsets were not deleted.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )


__all__ = [
    "DeleteShareGroupOffsetsRequest",
    "DeleteShareGroupOffsetsRequestTopic",
    "DeleteShareGroupOffsetsResponse",
    "DeleteShareGroupOffsetsResponseTopic",
]
