"""What AlterConfigs and IncrementalAlterConfigs have in common: one result for each resource."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from aiokafka_lite.errors import BrokerResponseError, InvalidRequestError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages import alter_configs, incremental_alter_configs
from aiokafka_lite.testing.broker.handler import RequestContext
from aiokafka_lite.testing.broker.handlers._config_rights import check_right
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.config_resources import SettingsOwner, resource_of

Asked = TypeVar(
    "Asked", alter_configs.AlterConfigsResource, incremental_alter_configs.AlterConfigsResource
)


def change_each(
    context: RequestContext,
    asked: Sequence[Asked],
    change: Callable[[SettingsOwner, Asked], None],
    *,
    unknown_kind: int | None = None,
) -> list[tuple[Asked, int, str | None]]:
    """Call `change` for each resource. Return each with its error code and message; (0, None): it
    succeeded.

    `unknown_kind` is a kind of resource that the request does not know. It needs no right.
    """
    count = Counter((each.resource_type, each.resource_name) for each in asked)
    results: list[tuple[Asked, int, str | None]] = []
    for each in asked:
        kind, name = each.resource_type, each.resource_name
        try:
            context.injected.raise_for()
            if count[kind, name] > 1:
                raise InvalidRequestError("Each resource must appear at most once.")
            if kind == unknown_kind:
                raise InvalidRequestError(f"Unknown resource type {kind}")
            check_right(context.session, Operation.ALTER_CONFIGS, kind, name)
            node = context.on_node.node
            change(resource_of(context.cluster, node, kind, name, is_altered=True), each)
        except BrokerResponseError as error:
            results.append((each, error.errno, reason_of(error)))
        else:
            results.append((each, 0, None))
    return results


__all__ = ["change_each"]
