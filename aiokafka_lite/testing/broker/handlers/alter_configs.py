"""AlterConfigs: replaces the settings of a resource; each succeeds or fails by itself."""

from aiokafka_lite.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._config_changes import change_each
from aiokafka_lite.testing.broker.state.config_changes import replace
from aiokafka_lite.testing.broker.state.config_resources import BROKER_LOGGER, SettingsOwner


def handle(context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    def alter(resource: SettingsOwner, asked: AlterConfigsResource) -> None:
        settings = [(each.name, each.value) for each in asked.configs]
        replace(resource, settings, validate_only=request.validate_only)

    # Levels of loggers are changed one by one only.
    results = change_each(context, request.resources, alter, unknown_kind=BROKER_LOGGER)
    return AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
                error_code=code,
                error_message=message,
            )
            for asked, code, message in results
        ]
    )


HANDLER = Handler(AlterConfigsRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
