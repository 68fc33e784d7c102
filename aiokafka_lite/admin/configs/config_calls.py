"""Calls that describe and alter configurations: of topics, brokers, groups and client metrics.

A broker's own configuration is asked from that broker, all others from any node, as Java does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka_lite.admin.configs.config_answers import (
    AlterConfigsAnswer,
    DescribeConfigsAnswer,
    altered_answers,
    described_answers,
)
from aiokafka_lite.admin.configs.config_changes import (
    asked_names,
    check_each_once,
    node_of,
    replacement,
    single_changes,
    subject_of,
)
from aiokafka_lite.admin.configs.config_entry import ConfigEntry, config_entry
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import IllegalArgumentError, KafkaError, UnsupportedVersionError
from aiokafka_lite.protocol.messages import alter_configs as replacing
from aiokafka_lite.protocol.messages import incremental_alter_configs as incremental
from aiokafka_lite.protocol.messages.alter_configs import AlterConfigsRequest
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from aiokafka_lite.protocol.messages.list_config_resources import ListConfigResourcesRequest

if TYPE_CHECKING:
    from aiokafka_lite.admin.calls.admin_requests import Ask, AskedNode
    from aiokafka_lite.admin.calls.request_routes import Located

V = TypeVar("V")


class ConfigCalls(AdminFamily):
    """Configurations of topics, brokers, groups and client metrics."""

    async def describe_configs(
        self,
        config_resources: Sequence[ConfigResource],
        include_synonyms: bool = False,
        timeout_ms: int | None = None,
    ) -> list[DescribeConfigsAnswer]:
        """Return the settings in aiokafka's form: one answer for each broker, one for all others.

        `get_configs` returns them by name. The names in the `configs` of a resource choose among
        its settings; without names, all are returned. A resource that fails has its error code and
        text in its row.

        Raises: IllegalArgumentError for anything but a list of resources, each named once;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind. Source: KIP-133, KIP-226.
        """
        outcomes = await self._describe(
            "describe_configs()", config_resources, include_synonyms, False, timeout_ms
        )
        return described_answers(outcomes)

    async def get_configs(
        self,
        config_resources: Sequence[ConfigResource],
        include_synonyms: bool = False,
        include_documentation: bool = False,
        timeout_ms: int | None = None,
    ) -> Outcomes[ConfigResource, dict[str, ConfigEntry]]:
        """Return the settings of each resource by name, or the resource's error.

        The names in the `configs` of a resource choose among its settings; without names, all are
        returned. A resource finds its result by its type and name.

        Raises: as `describe_configs`. Cancelled: nothing is left behind.
        Source: KIP-133, KIP-226, KIP-569.
        """
        outcomes = await self._describe(
            "get_configs()", config_resources, include_synonyms, include_documentation, timeout_ms
        )
        return Outcomes(
            (
                resource,
                told
                if isinstance(told, KafkaError)
                else {each.name: config_entry(each) for each in told.configs},
            )
            for resource, told in outcomes.items()
        )

    async def alter_configs(
        self,
        config_resources: Sequence[ConfigResource],
        timeout_ms: int | None = None,
        validate_only: bool = False,
    ) -> list[AlterConfigsAnswer]:
        """Replace the settings of each resource by those of its `configs`, {name: value}.

        Settings that are not named go back to their defaults. `incremental_alter_configs` leaves
        them alone. The result has aiokafka's form: one answer for topics, groups and client
        metrics, one for each broker. A resource that fails keeps no other from being altered.

        Raises: as `describe_configs`; IllegalArgumentError for `configs` without values.
        Cancelled: the nodes may alter the settings nevertheless. Source: KIP-133.
        """
        wanted = {each: replacement(each) for each in check_each_once(config_resources)}

        async def ask(
            node: AskedNode, keys: list[ConfigResource]
        ) -> Mapping[ConfigResource, KafkaError | None]:
            request = AlterConfigsRequest(
                resources=[wanted[key] for key in keys], validate_only=validate_only
            )
            return _results((await node.request(request)).responses)

        return altered_answers(await self._for_each("alter_configs()", wanted, ask, timeout_ms))

    async def incremental_alter_configs(
        self,
        config_resources: Sequence[ConfigResource],
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> Outcomes[ConfigResource, None]:
        """Change single settings: the `configs` of each resource are {name: (AlterConfigOp, value)}
        or {name: value}, which sets it.

        A resource is altered as a whole or not at all. One that fails keeps no other from being
        altered. With `validate_only` the cluster only checks.

        Raises: as `alter_configs`. Cancelled: the nodes may alter the settings nevertheless.
        Source: KIP-339.
        """
        wanted = {each: single_changes(each) for each in check_each_once(config_resources)}

        async def ask(
            node: AskedNode, keys: list[ConfigResource]
        ) -> Mapping[ConfigResource, KafkaError | None]:
            request = IncrementalAlterConfigsRequest(
                resources=[wanted[key] for key in keys], validate_only=validate_only
            )
            return _results((await node.request(request)).responses)

        return await self._for_each("incremental_alter_configs()", wanted, ask, timeout_ms)

    async def list_config_resources(
        self,
        types: Iterable[ConfigResourceType | int] | None = None,
        timeout_ms: int | None = None,
    ) -> list[ConfigResource]:
        """Return what has a configuration, without its settings: of these `types`, or of all.

        Brokers before 4.1 list only CLIENT_METRICS.

        Raises: UnsupportedVersionError for other types, if the brokers are older;
        IllegalArgumentError for what is no type; otherwise as `describe_configs`.
        Cancelled: nothing is left behind. Source: KIP-714, KIP-1142.
        """
        every_type = list(ConfigResourceType)
        wanted = (
            every_type if types is None else [_type(each) for each in list_of("types", types, int)]
        )
        if not wanted:
            return []
        requests = self._running()

        async def ask(node: AskedNode) -> list[ConfigResource]:
            request = ListConfigResourcesRequest(resource_types=list(wanted))
            try:
                answer = await node.request(request)
            except UnsupportedVersionError:  # a broker before 4.1 names no types
                if set(wanted) != {ConfigResourceType.CLIENT_METRICS}:
                    raise UnsupportedVersionError(
                        "listing config resources other than client metrics needs Kafka 4.1"
                        " (KIP-1142); ask for"
                        " types=[ConfigResourceType.CLIENT_METRICS], or use list_topics()"
                    ) from None
                answer = await node.request(ListConfigResourcesRequest())
            raise_broker_error(answer.error_code, None, "list_config_resources()")
            return [
                ConfigResource(each.resource_type, each.resource_name)
                for each in answer.config_resources
            ]

        return await requests.one(
            "list_config_resources()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def _describe(
        self,
        what: str,
        config_resources: Sequence[ConfigResource],
        include_synonyms: bool,
        include_documentation: bool,
        timeout_ms: int | None,
    ) -> Outcomes[ConfigResource, DescribeConfigsResult]:
        names = {each: asked_names(each) for each in check_each_once(config_resources)}

        async def ask(
            node: AskedNode, keys: list[ConfigResource]
        ) -> Mapping[ConfigResource, DescribeConfigsResult | KafkaError]:
            request = DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=key.resource_type,
                        resource_name=key.name,
                        configuration_keys=names[key],
                    )
                    for key in keys
                ],
                include_synonyms=include_synonyms,
                include_documentation=include_documentation,
            )
            try:
                answer = await node.request(request)
            except UnsupportedVersionError:
                if not include_documentation:
                    raise
                request.include_documentation = False  # a broker before 2.6
                answer = await node.request(request)
            return {
                key: broker_error(each.error_code, each.error_message, subject_of(key)) or each
                for each in answer.results
                for key in (ConfigResource(each.resource_type, each.resource_name),)
            }

        return await self._for_each(what, names, ask, timeout_ms)

    async def _for_each(
        self,
        what: str,
        keys: Iterable[ConfigResource],
        ask: Ask[ConfigResource, V],
        timeout_ms: int | None,
    ) -> Outcomes[ConfigResource, V]:
        requests = self._running()
        to_broker = requests.routes.node(_broker_id)

        async def route(pending: Sequence[ConfigResource], attempt: int) -> Located[ConfigResource]:
            of_brokers = [key for key in pending if node_of(key) is not None]
            others = [key for key in pending if node_of(key) is None]
            located = await requests.routes.any_node(others, attempt)
            if of_brokers:
                found = await to_broker(of_brokers, attempt)
                located.failures.update(found.failures)
                located.nodes.update(found.nodes)
            return located

        return await requests.for_each(
            what, keys, route, ask, timeout_s=self._timeout_s(timeout_ms)
        )


def _type(value: ConfigResourceType | int) -> ConfigResourceType:
    try:
        return ConfigResourceType(value)
    except ValueError:
        raise IllegalArgumentError(
            f"types has {quoted(value)}, which is no ConfigResourceType; give a list of"
            f" {', '.join(each.name for each in ConfigResourceType)}"
        ) from None


def _broker_id(resource: ConfigResource) -> int:
    node_id = node_of(resource)
    assert node_id is not None, resource
    return node_id


def _results(
    responses: Iterable[
        replacing.AlterConfigsResourceResponse | incremental.AlterConfigsResourceResponse
    ],
) -> dict[ConfigResource, KafkaError | None]:
    found: dict[ConfigResource, KafkaError | None] = {}
    for each in responses:
        key = ConfigResource(each.resource_type, each.resource_name)
        found[key] = broker_error(each.error_code, each.error_message, subject_of(key))
    return found


__all__ = ["ConfigCalls"]
