"""DescribeClientQuotas (key 48): the quotas that a node knows (KIP-546). v1 flexible."""

from __future__ import annotations

from typing import Final

from aiokafka_lite.schema.field_types import Bool, Float64, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct

EXACT: Final = 0
"""A component's match type: the entity of this name."""
DEFAULT: Final = 1
"""The default entity of the type."""
ANY: Final = 2
"""Each entity of the type, the default one too."""


class DescribeClientQuotasRequest(
    Request["DescribeClientQuotasResponse"], api_key=48, versions="0-1", flexible="1+"
):
    """Asks for the quotas of the entities that match all components."""

    needs = "Kafka 2.6 (KIP-546)"

    components: list[ComponentData] = field(doc="The components; none match every entity.")
    strict: Bool = field(doc="Whether entities with further types do not match.")


class ComponentData(Struct):
    """What an entity must have: one type with one name."""

    entity_type: String = field(doc="The type: user, client-id or ip.")
    match_type: Int8 = field(doc="0: the entity with the name; 1: the default one; 2: each.")
    match: String | None = field(doc="The name, or null unless match_type is 0.")


class DescribeClientQuotasResponse(Response, api_key=48, versions="0-1", flexible="1+"):
    """The quotas, by entity."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    entries: list[EntryData] | None = field(doc="The entities, or null after an error.")


class EntryData(Struct):
    """One entity and its quotas."""

    entity: list[EntityData] = field(doc="The parts of the entity.")
    values: list[ValueData] = field(doc="Its quotas.")


class EntityData(Struct):
    """One part of an entity."""

    entity_type: String = field(doc="The type: user, client-id or ip.")
    entity_name: String | None = field(doc="The name, or null for the default entity.")


class ValueData(Struct):
    """One quota."""

    key: String = field(doc="Its name, such as producer_byte_rate.")
    value: Float64 = field(doc="Its value.")


__all__ = [
    "ANY",
    "DEFAULT",
    "EXACT",
    "ComponentData",
    "DescribeClientQuotasRequest",
    "DescribeClientQuotasResponse",
    "EntityData",
    "EntryData",
    "ValueData",
]
