"""AlterClientQuotas (key 49): sets and removes quotas (KIP-546). v1 flexible."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Float64, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AlterClientQuotasRequest(
    Request["AlterClientQuotasResponse"], api_key=49, versions="0-1", flexible="1+"
):
    """Asks for changes, entity by entity."""

    needs = "Kafka 2.6 (KIP-546)"

    entries: list[EntryData] = field(doc="The entities and their changes.")
    validate_only: Bool = field(doc="Whether the changes are only checked.")


class EntryData(Struct):
    """The changes of one entity."""

    entity: list[EntityData] = field(doc="The parts of the entity.")
    ops: list[OpData] = field(doc="The changes.")


class EntityData(Struct):
    """One part of an entity."""

    entity_type: String = field(doc="The type: user, client-id or ip.")
    entity_name: String | None = field(doc="The name, or null for the default entity.")


class OpData(Struct):
    """One change."""

    key: String = field(doc="The name of the quota, such as producer_byte_rate.")
    value: Float64 = field(doc="The new value, which counts for nothing with remove.")
    remove: Bool = field(doc="Whether the quota is removed instead of set.")


class AlterClientQuotasResponse(Response, api_key=49, versions="0-1", flexible="1+"):
    """The result of each entity."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    entries: list[AlterClientQuotasResponse.EntryData] = field(doc="The results.")

    class EntryData(Struct):
        """The result of one entity."""

        error_code: Int16 = field(doc="0, or an error code.")
        error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
        entity: list[EntityData] = field(doc="The parts of the entity.")


__all__ = [
    "AlterClientQuotasRequest",
    "AlterClientQuotasResponse",
    "EntityData",
    "EntryData",
    "OpData",
]
