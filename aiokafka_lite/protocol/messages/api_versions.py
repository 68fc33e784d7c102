"""ApiVersions (key 18): the first request on every connection, for the versions a broker supports.

The requests v0-v2 are alike. v1 responds with the throttle time. v3 is flexible, names the client
software (KIP-511) and returns the features (KIP-584). v4 lets a feature's lowest version be 0
(KAFKA-17011). v5 names the node that the client expects, so that another node can refuse
(KIP-1242). The response header stays v0 in every version: the client does not know yet what the
broker supports.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ApiVersionsRequest(Request["ApiVersionsResponse"], api_key=18, versions="0-5", flexible="3+"):
    """Asks a broker for its APIs and their versions."""

    software_since = 3
    """The first version that names the client software (KIP-511)."""
    feature_level_0_since = 4
    """The first version that can answer with a feature whose lowest level is 0 (KIP-584)."""

    client_software_name: String = field(
        versions="3+",
        ignorable=True,
        doc="Name of the client library, for the broker's metrics (KIP-511).",
    )
    client_software_version: String = field(
        versions="3+", ignorable=True, doc="Version of the client library (KIP-511)."
    )
    cluster_id: String | None = field(
        versions="5+",
        default=None,
        ignorable=True,
        doc="Id of the cluster the client expects, or null for any (KIP-1242).",
    )
    node_id: Int32 = field(
        versions="5+",
        default=-1,
        ignorable=True,
        doc="Id of the node the client expects; used only with a cluster id (KIP-1242).",
    )


class ApiVersionsResponse(Response, api_key=18, versions="0-5", flexible="3+"):
    """A broker's APIs, versions and features.

    With UNSUPPORTED_VERSION it comes as v0, with the broker's own range (KIP-511).
    """

    error_code: Int16 = field(
        doc=(
            "0, UNSUPPORTED_VERSION for a version the broker lacks, or from v5 on "
            "REBOOTSTRAP_REQUIRED for a request to another node (KIP-1242)."
        )
    )
    api_keys: list[ApiVersion] = field(doc="The APIs of this broker.")
    throttle_time_ms: Int32 = field(
        versions="1+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    supported_features: list[SupportedFeatureKey] = field(
        versions="3+",
        tag=0,
        ignorable=True,
        doc="Features this broker could run (KIP-584); up to v3 those starting at 0 are left out.",
    )
    finalized_features_epoch: Int64 = field(
        versions="3+",
        default=-1,
        tag=1,
        ignorable=True,
        doc=(
            "Grows with each change of the finalized features; -1 when they are not known "
            "(KIP-584)."
        ),
    )
    finalized_features: list[FinalizedFeatureKey] = field(
        versions="3+",
        tag=2,
        ignorable=True,
        doc=(
            "Features switched on in the cluster; counts only with an epoch of 0 or more (KIP-584)."
        ),
    )
    zk_migration_ready: Bool = field(
        versions="3+",
        tag=3,
        ignorable=True,
        doc="A controller is ready to take over from ZooKeeper (KIP-866).",
    )


class ApiVersion(Struct):
    """One API and its range of versions."""

    api_key: Int16 = field(doc="The API's number.")
    min_version: Int16 = field(doc="Lowest version spoken.")
    max_version: Int16 = field(doc="Highest version spoken.")


class SupportedFeatureKey(Struct):
    """A feature that the broker supports, with its range of versions (KIP-584)."""

    name: String = field(doc="Name of the feature, such as transaction.version.")
    min_version: Int16 = field(doc="Lowest level the broker can run.")
    max_version: Int16 = field(doc="Highest level the broker can run.")


class FinalizedFeatureKey(Struct):
    """A feature that is active in the cluster, with its range of levels (KIP-584)."""

    name: String = field(doc="Name of the feature.")
    max_version_level: Int16 = field(doc="The level in force.")
    min_version_level: Int16 = field(doc="Lowest level a broker may still use.")


__all__ = [
    "ApiVersion",
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "FinalizedFeatureKey",
    "SupportedFeatureKey",
]
