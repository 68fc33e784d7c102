"""ApiVersions: the versions of this node, computed from its handlers (KIP-35, KIP-511).

The response also has the features of the cluster and their levels (KIP-584). A client that expects
another node or cluster gets an error (KIP-1242).

So the advertised versions are always the served versions.
"""

import re

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRequestError,
    RebootstrapRequiredError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.state.cluster_features import SUPPORTED

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    try:
        context.injected.raise_for()
        if context.version >= ApiVersionsRequest.software_since:
            _check_software(request.client_software_name, request.client_software_version)
            software = (request.client_software_name, request.client_software_version)
            context.session.software = software
        _check_is_meant(context, request)
    except BrokerResponseError as error:
        return ApiVersionsResponse(error_code=error.errno)
    if context.session.sasl is not None:
        context.session.sasl.versions_are_told()
    response = ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=api_key, min_version=versions.min, max_version=versions.max)
            for api_key, versions in sorted(context.on_node.served_versions.items())
        ]
    )
    _tell_features(context, response)
    return response


def _tell_features(context: RequestContext, response: ApiVersionsResponse) -> None:
    features = context.cluster.features
    response.finalized_features_epoch = features.epoch
    # Older clients cannot read a feature that may have the level 0.
    lowest = 0 if context.version >= ApiVersionsRequest.feature_level_0_since else 1
    response.supported_features = [
        SupportedFeatureKey(name=name, min_version=levels[0], max_version=levels[-1])
        for name, levels in SUPPORTED.items()
        if levels[0] >= lowest
    ]
    response.finalized_features = [
        FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in features.levels.items()
        if level
    ]


def _check_software(*names: str) -> None:
    for name in names:
        if not _SOFTWARE.fullmatch(name):
            raise InvalidRequestError(
                f"client software name and version must be words of letters, digits, '-' and '.', "
                f"got {name!r} (KIP-511)"
            )


def _check_is_meant(context: RequestContext, request: ApiVersionsRequest) -> None:
    meant = (request.cluster_id, request.node_id)
    if meant == (None, -1):
        return
    if None in meant or -1 in meant:
        raise InvalidRequestError(f"cluster id and node id go together, got {meant} (KIP-1242)")
    mine = (context.cluster.cluster_id, context.node_id)
    if meant != mine:
        raise RebootstrapRequiredError(f"meant for node {meant}, this is {mine}")


def unsupported_version(served: VersionRange) -> ApiVersionsResponse:
    """Return the response to an unsupported version, with the range; it is sent as version 0."""
    return ApiVersionsResponse(
        error_code=UnsupportedVersionError.errno,
        api_keys=[
            ApiVersion(
                api_key=ApiVersionsRequest.api_key, min_version=served.min, max_version=served.max
            )
        ],
    )


HANDLER = Handler(ApiVersionsRequest, handle, VersionRange(0, 5))


__all__ = ["handle", "unsupported_version"]
