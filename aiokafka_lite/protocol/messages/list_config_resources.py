"""ListConfigResources (key 74): the names of what has settings (KIP-1142).

v0 was called ListClientMetricsResources and lists the subscriptions of client metrics (KIP-714). v1
lists other kinds, too.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ListConfigResourcesRequest(
    Request["ListConfigResourcesResponse"], api_key=74, versions="0-1", flexible="0+"
):
    """Asks for names."""

    needs = "Kafka 4.1 (KIP-1142)"

    types_since = 1
    """The first version that lists other kinds than client metrics (KIP-1142)."""

    resource_types: list[Int8] = field(
        versions="1+",
        needs="listing resources of these types needs Kafka 4.1 (KIP-1142)",
        doc="The kinds to list; empty for all.",
    )


class ListConfigResourcesResponse(Response, api_key=74, versions="0-1", flexible="0+"):
    """The names."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    config_resources: list[ConfigResource] = field(doc="What has settings.")


class ConfigResource(Struct):
    """One thing with settings."""

    resource_name: String = field(doc="Its name.")
    resource_type: Int8 = field(
        versions="1+", default=16, ignorable=True, doc="Its kind, such as 16 for client metrics."
    )


__all__ = ["ConfigResource", "ListConfigResourcesRequest", "ListConfigResourcesResponse"]
