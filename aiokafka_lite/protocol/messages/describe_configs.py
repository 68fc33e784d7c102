"""DescribeConfigs (key 32): the settings of topics, brokers, groups and client metrics (KIP-133).

v1 tells where a value comes from, and its synonyms (KIP-226). v3 tells types and documentation
(KIP-569). v4 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeConfigsRequest(
    Request["DescribeConfigsResponse"], api_key=32, versions="1-4", flexible="4+"
):
    """Asks for settings."""

    resources: list[DescribeConfigsResource] = field(doc="What has the settings.")
    include_synonyms: Bool = field(
        versions="1+", doc="Whether to list the places where a value is looked for (KIP-226)."
    )
    include_documentation: Bool = field(
        versions="3+",
        needs="documentation of configs needs Kafka 2.6 (KIP-569)",
        doc="Whether to send the documentation of each setting (KIP-569).",
    )


class DescribeConfigsResource(Struct):
    """One thing with settings."""

    resource_type: Int8 = field(doc="Its kind: 2 topic, 4 broker, 8 logger, 16 metrics, 32 group.")
    resource_name: String = field(doc="Its name; the id of a broker as text.")
    configuration_keys: list[String] | None = field(doc="Names of the settings, or null for all.")


class DescribeConfigsResponse(Response, api_key=32, versions="1-4", flexible="4+"):
    """The settings of each thing."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    results: list[DescribeConfigsResult] = field(doc="The results, one for each thing.")


class DescribeConfigsResult(Struct):
    """The settings of one thing."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    resource_type: Int8 = field(doc="Its kind, as in the request.")
    resource_name: String = field(doc="Its name.")
    configs: list[DescribeConfigsResourceResult] = field(doc="The settings.")


class DescribeConfigsResourceResult(Struct):
    """One setting."""

    name: String = field(doc="Name of the setting.")
    value: String | None = field(doc="The value; null for a secret, or without a value.")
    read_only: Bool = field(doc="Whether it cannot be altered while the broker runs.")
    config_source: Int8 = field(
        versions="1+", default=-1, ignorable=True, doc="Where the value comes from (KIP-226)."
    )
    is_sensitive: Bool = field(doc="Whether the value is a secret.")
    synonyms: list[DescribeConfigsSynonym] = field(
        versions="1+", ignorable=True, doc="Where the value is looked for, the first place first."
    )
    config_type: Int8 = field(
        versions="3+",
        ignorable=True,
        doc="The type: 1 BOOLEAN, STRING, INT, SHORT, LONG, DOUBLE, LIST, CLASS, 9 PASSWORD.",
    )
    documentation: String | None = field(
        versions="3+", ignorable=True, doc="What the setting does, or null."
    )


class DescribeConfigsSynonym(Struct):
    """A place that gives a value to a setting."""

    name: String = field(versions="1+", doc="Name of the setting in that place.")
    value: String | None = field(versions="1+", doc="The value there; null for a secret.")
    source: Int8 = field(versions="1+", doc="The kind of place.")


__all__ = [
    "DescribeConfigsRequest",
    "DescribeConfigsResource",
    "DescribeConfigsResourceResult",
    "DescribeConfigsResponse",
    "DescribeConfigsResult",
    "DescribeConfigsSynonym",
]
