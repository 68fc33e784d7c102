"""CreateAcls (key 30): new access rules, stored by the controller.

v1 has patterns of resource names (KIP-290), and is the lowest version since Kafka 4.0 (KIP-896). v2
flexible; v3 the resource type for users (KIP-373).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class CreateAclsRequest(Request["CreateAclsResponse"], api_key=30, versions="1-3", flexible="2+"):
    """Asks for new rules."""

    creations: list[AclCreation] = field(doc="The rules to create.")


class AclCreation(Struct):
    """One rule: one operation on one resource, or on those whose names begin alike."""

    resource_type: Int8 = field(doc="The kind of resource, by the number of ResourceType.")
    resource_name: String = field(doc="Name of the resource, or the beginning of names.")
    resource_pattern_type: Int8 = field(
        default=3, doc="3: the name is literal; 4: names begin with it (KIP-290)."
    )
    principal: String = field(doc="Whom the rule is for, such as User:alice.")
    host: String = field(doc="The client's address, or * for any.")
    operation: Int8 = field(doc="What the rule is about, by the number of AclOperation.")
    permission_type: Int8 = field(doc="2: deny; 3: allow.")


class CreateAclsResponse(Response, api_key=30, versions="1-3", flexible="2+"):
    """The result of each rule, in the order of the request."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    results: list[AclCreationResult] = field(doc="The results.")


class AclCreationResult(Struct):
    """The result for one rule."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = ["AclCreation", "AclCreationResult", "CreateAclsRequest", "CreateAclsResponse"]
