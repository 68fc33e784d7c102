"""IncrementalAlterConfigs: changes single settings; each resource succeeds or fails by itself."""

from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._config_changes import change_each
from aiokafka_lite.testing.broker.state.config_changes import change
from aiokafka_lite.testing.broker.state.config_resources import SettingsOwner


def handle(
    context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    def alter(resource: SettingsOwner, asked: AlterConfigsResource) -> None:
        settings = [(each.name, each.config_operation, each.value) for each in asked.configs]
        change(resource, settings, validate_only=request.validate_only)

    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
                error_code=code,
                error_message=message,
            )
            for asked, code, message in change_each(context, request.resources, alter)
        ]
    )


HANDLER = Handler(IncrementalAlterConfigsRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
