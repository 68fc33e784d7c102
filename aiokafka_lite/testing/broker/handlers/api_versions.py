"""ApiVersions: the versions of this node, computed from its handlers (KIP-35, KIP-511).

The response also has the level of the one feature that clients use, transaction.version (KIP-584,
KIP-890). A client that expects another node or cluster gets an error (KIP-1242).

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

TRANSACTION_VERSION = "transaction.version"
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    try:
        context.injected.raise_for()
        if context.version >= ApiVersionsRequest.software_since:
            _check_software(request.client_software_name, request.client_software_version)
        _check_is_meant(context, request)
    except BrokerResponseError as error:
        return ApiVersionsResponse(error_code=error.errno)
    response = ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=api_key, min_version=versions.min, max_version=versions.max)
            for api_key, versions in sorted(context.on_node.served_versions.items())
        ]
    )
    _tell_features(context, response)
    return response


def _tell_features(context: RequestContext, response: ApiVersionsResponse) -> None:
    level = context.transactions.options.transaction_version
    response.finalized_features_epoch = 0
    if context.version >= ApiVersionsRequest.feature_level_0_since:
        response.supported_features = [
            SupportedFeatureKey(name=TRANSACTION_VERSION, min_version=0, max_version=2)
        ]
    if level:
        response.finalized_features = [
            FinalizedFeatureKey(
                name=TRANSACTION_VERSION, max_version_level=level, min_version_level=level
            )
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
