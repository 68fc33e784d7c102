"""ApiVersions: what this node serves, computed from the handlers it has (KIP-35, KIP-511)."""

from aiokafka_lite.errors import BrokerResponseError, UnsupportedVersionError
from aiokafka_lite.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext


def handle(context: RequestContext, _: ApiVersionsRequest) -> ApiVersionsResponse:
    try:
        context.injected.raise_for()
    except BrokerResponseError as error:
        return ApiVersionsResponse(error_code=error.errno)
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=api_key, min_version=versions.min, max_version=versions.max)
            for api_key, versions in sorted(context.on_node.served_versions.items())
        ]
    )


def unsupported_version(served: VersionRange) -> ApiVersionsResponse:
    """Return the answer to a version not served, with the range; it is sent as version 0."""
    return ApiVersionsResponse(
        error_code=UnsupportedVersionError.errno,
        api_keys=[
            ApiVersion(
                api_key=ApiVersionsRequest.api_key, min_version=served.min, max_version=served.max
            )
        ],
    )


HANDLER = Handler(ApiVersionsRequest, handle, VersionRange(0, 4))
