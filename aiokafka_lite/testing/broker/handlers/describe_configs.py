"""DescribeConfigs: the settings of topics, brokers, groups and client metrics."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._config_rights import check_right
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.config_resources import resource_of
from aiokafka_lite.testing.broker.state.settings.setting import DescribedSetting


def handle(context: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        results=[_describe(context, request, asked) for asked in request.resources]
    )


def _describe(
    context: RequestContext, request: DescribeConfigsRequest, asked: DescribeConfigsResource
) -> DescribeConfigsResult:
    kind, name = asked.resource_type, asked.resource_name
    result = DescribeConfigsResult(resource_type=kind, resource_name=name, error_message=None)
    try:
        check_right(context.session, Operation.DESCRIBE_CONFIGS, kind, name)
        context.injected.raise_for()
        found = resource_of(context.cluster, context.on_node.node, kind, name).describe()
    except BrokerResponseError as error:
        result.error_code, result.error_message = error.errno, reason_of(error)
        return result
    names = asked.configuration_keys
    result.configs = [
        _entry(each, request) for each in found if names is None or each.name in names
    ]
    return result


def _entry(
    told: DescribedSetting, request: DescribeConfigsRequest
) -> DescribeConfigsResourceResult:
    # A logger has an empty text, also if none was asked for.
    is_told = request.include_documentation or told.documentation == ""
    entry = DescribeConfigsResourceResult(
        name=told.name,
        value=told.value,
        read_only=told.is_read_only,
        config_source=told.source,
        is_sensitive=told.is_sensitive,
        config_type=told.type,
        documentation=told.documentation if is_told else None,
    )
    if request.include_synonyms:
        entry.synonyms = [
            DescribeConfigsSynonym(name=each.name, value=each.value, source=each.source)
            for each in told.places
        ]
    return entry


HANDLER = Handler(DescribeConfigsRequest, handle, VersionRange(1, 4))


__all__ = ["handle"]
