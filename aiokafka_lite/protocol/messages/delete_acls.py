"""DeleteAcls (key 31): removes the access rules that match filters.

v1 has patterns of resource names (KIP-290), and is the lowest version since Kafka 4.0 (KIP-896). v2
flexible; v3 the resource type for users (KIP-373).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DeleteAclsRequest(Request["DeleteAclsResponse"], api_key=31, versions="1-3", flexible="2+"):
    """Asks to remove the rules that match any of the filters."""

    filters: list[DeleteAclsFilter] = field(doc="The filters.")


class DeleteAclsFilter(Struct):
    """One filter. A rule matches it if it matches every field."""

    resource_type_filter: Int8 = field(doc="The kind of resource; 1: any.")
    resource_name_filter: String | None = field(doc="Name of the resource, or null for any.")
    pattern_type_filter: Int8 = field(
        default=3, doc="The pattern of the name (KIP-290); 1: any, 2: all that include the name."
    )
    principal_filter: String | None = field(doc="Whom the rule is for, or null for any.")
    host_filter: String | None = field(doc="The client's address, or null for any.")
    operation: Int8 = field(doc="What the rule is about; 1: any.")
    permission_type: Int8 = field(doc="1: any; 2: deny; 3: allow.")


class DeleteAclsResponse(Response, api_key=31, versions="1-3", flexible="2+"):
    """The result of each filter, in the order of the request."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    filter_results: list[DeleteAclsFilterResult] = field(doc="The results.")


class DeleteAclsFilterResult(Struct):
    """The result of one filter."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    matching_acls: list[DeleteAclsMatchingAcl] = field(doc="The rules that matched the filter.")


class DeleteAclsMatchingAcl(Struct):
    """One rule that matched."""

    error_code: Int16 = field(doc="0 if it was removed, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    resource_type: Int8 = field(doc="The kind of resource, by the number of ResourceType.")
    resource_name: String = field(doc="Name of the resource, or the beginning of names.")
    pattern_type: Int8 = field(default=3, doc="3: the name is literal; 4: names begin with it.")
    principal: String = field(doc="Whom the rule is for, such as User:alice.")
    host: String = field(doc="The client's address, or * for any.")
    operation: Int8 = field(doc="What the rule is about, by the number of AclOperation.")
    permission_type: Int8 = field(doc="2: deny; 3: allow.")


__all__ = [
    "DeleteAclsFilter",
    "DeleteAclsFilterResult",
    "DeleteAclsMatchingAcl",
    "DeleteAclsRequest",
    "DeleteAclsResponse",
]
