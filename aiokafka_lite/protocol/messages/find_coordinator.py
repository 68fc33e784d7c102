"""FindCoordinator (key 10): the broker that coordinates a group or a transactional id.

v1 the kind of key; v3 flexible; v4 several keys at once (KIP-699), which replaces the single-key
fields; v5 TRANSACTION_ABORTABLE (KIP-890); v6 share groups (KIP-932).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class FindCoordinatorRequest(
    Request["FindCoordinatorResponse"], api_key=10, versions="0-6", flexible="3+"
):
    """Asks for the coordinator of one key or, from v4, of several."""

    keys_since = 4
    """The first version that asks about a list of keys (KIP-699)."""

    key: String = field(versions="0-3", doc="The group or transactional id.")
    key_type: Int8 = field(
        versions="1+", doc="0 group, 1 transaction (KIP-98), 2 share group (KIP-932)."
    )
    coordinator_keys: list[String] = field(
        versions="4+", doc="The keys (KIP-699); of a share group as group:topic id:partition."
    )


class FindCoordinatorResponse(Response, api_key=10, versions="0-6", flexible="3+"):
    """One coordinator in the top-level fields or, from v4, a list."""

    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(versions="0-3", doc="0, or an error code.")
    error_message: String | None = field(
        versions="1-3", ignorable=True, doc="What went wrong, in the broker's words, or null."
    )
    node_id: Int32 = field(versions="0-3", doc="Id of the coordinating broker.")
    host: String = field(versions="0-3", doc="Host name or address to connect to.")
    port: Int32 = field(versions="0-3", doc="Port to connect to.")
    coordinators: list[Coordinator] = field(versions="4+", doc="One entry per key (KIP-699).")


class Coordinator(Struct):
    """The coordinator of one key, or an error for that key (KIP-699)."""

    key: String = field(doc="The key of this entry.")
    node_id: Int32 = field(doc="Id of the coordinating broker.")
    host: String = field(doc="Host name or address to connect to.")
    port: Int32 = field(doc="Port to connect to.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        ignorable=True, doc="What went wrong, in the broker's words, or null."
    )


__all__ = ["Coordinator", "FindCoordinatorRequest", "FindCoordinatorResponse"]
