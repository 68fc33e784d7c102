"""IncrementalAlterConfigs (key 44): changes single settings (KIP-339).

v1 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class IncrementalAlterConfigsRequest(
    Request["IncrementalAlterConfigsResponse"], api_key=44, versions="0-1", flexible="1+"
):
    """Asks for changes of single settings."""

    needs = "Kafka 2.3 (KIP-339)"

    resources: list[AlterConfigsResource] = field(doc="What has the settings.")
    validate_only: Bool = field(doc="Only check, change nothing.")


class AlterConfigsResource(Struct):
    """One thing with settings."""

    resource_type: Int8 = field(doc="Its kind: 2 topic, 4 broker, 8 logger, 16 metrics, 32 group.")
    resource_name: String = field(doc="Its name; the id of a broker as text.")
    configs: list[AlterableConfig] = field(doc="The settings.")


class AlterableConfig(Struct):
    """One setting."""

    name: String = field(doc="Name of the setting.")
    config_operation: Int8 = field(doc="0 set, 1 delete, 2 append, 3 subtract.")
    value: String | None = field(doc="The value, or null to delete.")


class IncrementalAlterConfigsResponse(Response, api_key=44, versions="0-1", flexible="1+"):
    """The result of each thing."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    responses: list[AlterConfigsResourceResponse] = field(doc="The results, one for each thing.")


class AlterConfigsResourceResponse(Struct):
    """The result for one thing."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    resource_type: Int8 = field(doc="Its kind, as in the request.")
    resource_name: String = field(doc="Its name.")


__all__ = [
    "AlterConfigsResource",
    "AlterConfigsResourceResponse",
    "AlterableConfig",
    "IncrementalAlterConfigsRequest",
    "IncrementalAlterConfigsResponse",
]
