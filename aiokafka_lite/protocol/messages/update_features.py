"""UpdateFeatures (key 57): moves features of the cluster to another level (KIP-584).

v1 has kinds of downgrades, and only checks on request (KIP-778). v2 has one result for all.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class UpdateFeaturesRequest(
    Request["UpdateFeaturesResponse"], api_key=57, versions="0-2", flexible="0+"
):
    """Asks for other levels."""

    needs = "Kafka 2.7 (KIP-584)"

    upgrade_types_since = 1
    """The first version with kinds of downgrades, and with `validate_only` (KIP-778)."""

    timeout_ms: Int32 = field(
        default=60000, doc="Milliseconds to wait until the levels have changed."
    )
    feature_updates: list[FeatureUpdateKey] = field(doc="The features and their new levels.")
    validate_only: Bool = field(
        versions="1+",
        needs="validate_only for features needs Kafka 3.3 (KIP-778)",
        doc="Only check, change nothing.",
    )


class FeatureUpdateKey(Struct):
    """One feature and its new level."""

    feature: String = field(doc="Name of the feature.")
    max_version_level: Int16 = field(doc="The new level; 0 switches the feature off.")
    allow_downgrade: Bool = field(versions="0", doc="Whether the level may go down.")
    upgrade_type: Int8 = field(
        versions="1+",
        default=1,
        needs="an unsafe downgrade of a feature needs Kafka 3.3 (KIP-778)",
        doc="1: only up; 2: down if no data is lost; 3: down, also with loss (KIP-778).",
    )


class UpdateFeaturesResponse(Response, api_key=57, versions="0-2", flexible="0+"):
    """The result."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    results: list[UpdatableFeatureResult] = field(
        versions="0-1", ignorable=True, doc="The results, by feature."
    )


class UpdatableFeatureResult(Struct):
    """The result for one feature."""

    feature: String = field(doc="Name of the feature.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = [
    "FeatureUpdateKey",
    "UpdatableFeatureResult",
    "UpdateFeaturesRequest",
    "UpdateFeaturesResponse",
]
