"""RemoveRaftVoter (key 81): takes a controller out of the voters of the quorum (KIP-853)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response


class RemoveRaftVoterRequest(
    Request["RemoveRaftVoterResponse"], api_key=81, versions="0", flexible="0+"
):
    """Asks to remove a voter."""

    needs = "Kafka 3.9 with KRaft (KIP-853)"

    cluster_id: String | None = field(doc="The cluster that is meant, or null for any.")
    voter_id: Int32 = field(doc="Id of the controller.")
    voter_directory_id: Uuid = field(doc="Id of the directory with its metadata log.")


class RemoveRaftVoterResponse(Response, api_key=81, versions="0", flexible="0+"):
    """The result."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        ignorable=True, doc="What went wrong, in the broker's words, or null."
    )


__all__ = ["RemoveRaftVoterRequest", "RemoveRaftVoterResponse"]
