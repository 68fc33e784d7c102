"""DeleteGroups (key 42): groups without members are deleted with their offsets (KIP-229).

v2 flexible; v3 a text with each error.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DeleteGroupsRequest(
    Request["DeleteGroupsResponse"], api_key=42, versions="0-3", flexible="2+"
):
    """Names groups of one coordinator."""

    groups_names: list[String] = field(doc="The groups to delete.")


class DeleteGroupsResponse(Response, api_key=42, versions="0-3", flexible="2+"):
    """The result of each group."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    results: list[DeletableGroupResult] = field(doc="One entry per group.")


class DeletableGroupResult(Struct):
    """The result for one group."""

    group_id: String = field(doc="The group.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        versions="3+",
        default=None,
        ignorable=True,
        doc="What went wrong, in the broker's words, or null.",
    )


__all__ = ["DeletableGroupResult", "DeleteGroupsRequest", "DeleteGroupsResponse"]
