"""AddRaftVoter (key 80): makes a controller a voter of the metadata's quorum (KIP-853).

v1 may wait until the voters have agreed to the change.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, UInt16, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AddRaftVoterRequest(
    Request["AddRaftVoterResponse"], api_key=80, versions="0-1", flexible="0+"
):
    """Asks to add a voter."""

    needs = "Kafka 3.9 with KRaft (KIP-853)"

    cluster_id: String | None = field(doc="The cluster that is meant, or null for any.")
    timeout_ms: Int32 = field(doc="Milliseconds to wait for the change.")
    voter_id: Int32 = field(doc="Id of the controller.")
    voter_directory_id: Uuid = field(doc="Id of the directory with its metadata log.")
    listeners: list[Listener] = field(doc="Its addresses.")
    ack_when_committed: Bool = field(
        versions="1+",
        default=True,
        needs="an answer before the voters agree needs Kafka 4.2 (KIP-1186)",
        doc="Answer when the voters have agreed; false: when the leader has written the change.",
    )


class Listener(Struct):
    """One address of the controller."""

    name: String = field(doc="Name of the listener.")
    host: String = field(doc="The host.")
    port: UInt16 = field(doc="The port.")


class AddRaftVoterResponse(Response, api_key=80, versions="0-1", flexible="0+"):
    """The result."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        ignorable=True, doc="What went wrong, in the broker's words, or null."
    )


__all__ = ["AddRaftVoterRequest", "AddRaftVoterResponse", "Listener"]
