"""ListGroups (key 16): the groups that one node coordinates.

v1 throttling; v3 flexible; v4 the states of groups (KIP-518); v5 the types of groups (KIP-848).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ListGroupsRequest(Request["ListGroupsResponse"], api_key=16, versions="0-5", flexible="3+"):
    """Asks for groups, from v4 for those in some states, from v5 for those of some types."""

    states_since = 4
    """The first version that knows the states of groups (KIP-518)."""
    types_since = 5
    """The first version that knows the types of groups (KIP-848)."""

    states_filter: list[String] = field(
        versions="4+",
        needs="a filter by state needs Kafka 2.6 (KIP-518)",
        doc="The states to list; empty for all (KIP-518).",
    )
    types_filter: list[String] = field(
        versions="5+",
        needs="a filter by type needs Kafka 3.8 (KIP-848)",
        doc="The types to list; empty for all (KIP-848).",
    )


class ListGroupsResponse(Response, api_key=16, versions="0-5", flexible="3+"):
    """The groups that the client may describe."""

    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(doc="0, or an error code.")
    groups: list[ListedGroup] = field(doc="The groups.")


class ListedGroup(Struct):
    """One group."""

    group_id: String = field(doc="The group.")
    protocol_type: String = field(
        doc="What the members are, such as consumer; empty without members."
    )
    group_state: String = field(
        versions="4+", ignorable=True, doc="The state, such as Stable (KIP-518)."
    )
    group_type: String = field(
        versions="5+", ignorable=True, doc="The type, such as classic (KIP-848)."
    )


__all__ = ["ListGroupsRequest", "ListGroupsResponse", "ListedGroup"]
