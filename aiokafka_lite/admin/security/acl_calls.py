"""Calls about access rules (ACLs). Brokers without an authorizer answer SECURITY_DISABLED."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.security.acl_binding import AclBinding, AclBindingFilter
from aiokafka_lite.checks.item_lists import list_of, one_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int
from aiokafka_lite.errors import InvalidRequestError, KafkaError
from aiokafka_lite.protocol.acl_types import (
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from aiokafka_lite.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from aiokafka_lite.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
)
from aiokafka_lite.protocol.messages.describe_acls import (
    DescribeAclsRequest,
    DescribeAclsResponse,
)


class AclCalls(AdminFamily):
    """Access rules."""

    async def create_acls(
        self, acls: Sequence[AclBinding], timeout_ms: int | None = None
    ) -> Outcomes[AclBinding, None]:
        """Store access rules, and return {rule: None or its error}.

        A rule that is stored already is no error. Nodes learn of new rules some milliseconds after
        the response. A part that failed has its error in its place: InvalidRequestError,
        ClusterAuthorizationFailedError without the right ALTER on the cluster, SecurityDisabled
        without an authorizer.

        Raises: IllegalArgumentError for anything but a list of rules; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: the nodes may store the rules nevertheless.
        Source: KIP-140, KIP-290.
        """

        async def ask(
            node: AskedNode, asked: list[AclBinding]
        ) -> Mapping[AclBinding, KafkaError | None]:
            faults = {acl: _fault(acl) for acl in asked}
            outcomes: dict[AclBinding, KafkaError | None] = {
                acl: fault for acl, fault in faults.items() if fault is not None
            }
            good = [acl for acl in asked if acl not in outcomes]
            if good:
                request = CreateAclsRequest(creations=[_creation(acl) for acl in good])
                results = (await node.request(request)).results
                for acl, each in zip(good, results, strict=False):
                    outcomes[acl] = broker_error(each.error_code, each.error_message, _text(acl))
            return outcomes

        requests = self._running()
        return await requests.for_each(
            "create_acls()",
            list_of("acls", acls, AclBinding),
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def describe_acls(
        self, acl_filter: AclBindingFilter, timeout_ms: int | None = None
    ) -> list[AclBinding]:
        """Return the access rules that match a filter, as one node knows them.

        Raises: InvalidRequestError for a filter with UNKNOWN; ClusterAuthorizationFailedError
        without the right DESCRIBE on the cluster; SecurityDisabled without an authorizer; otherwise
        as `create_acls`.
        Cancelled: nothing is left behind.
        Source: KIP-140, KIP-290.
        """

        async def ask(node: AskedNode) -> list[AclBinding]:
            answer = await node.request(
                DescribeAclsRequest(
                    resource_type_filter=acl_filter.resource_type,
                    resource_name_filter=acl_filter.resource_name,
                    pattern_type_filter=acl_filter.pattern_type,
                    principal_filter=acl_filter.principal,
                    host_filter=acl_filter.host,
                    operation=acl_filter.operation,
                    permission_type=acl_filter.permission_type,
                )
            )
            raise_broker_error(answer.error_code, answer.error_message, "describe_acls()")
            return _described(answer)

        requests = self._running()
        fault = _filter_fault(one_of("acl_filter", acl_filter, AclBindingFilter))
        if fault is not None:
            raise fault
        return await requests.one(
            "describe_acls()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def delete_acls(
        self, filters: Sequence[AclBindingFilter], timeout_ms: int | None = None
    ) -> Outcomes[AclBindingFilter, list[AclBinding]]:
        """Remove the access rules that match any of the filters.

        The answer has the removed rules of each filter, or its error; none is no error. When a
        response is lost, the call asks again, and rules that the lost request removed are missing
        in the answer. A filter with UNKNOWN has InvalidRequestError in its place and is not sent,
        because nodes drop the whole request for it.

        Raises: as `create_acls`. Cancelled: the nodes may remove the rules nevertheless.
        Source: KIP-140, KIP-290.
        """

        async def ask(
            node: AskedNode, asked: list[AclBindingFilter]
        ) -> Mapping[AclBindingFilter, list[AclBinding] | KafkaError]:
            faults = {each: _filter_fault(each) for each in asked}
            outcomes: dict[AclBindingFilter, list[AclBinding] | KafkaError] = {
                each: fault for each, fault in faults.items() if fault is not None
            }
            good = [each for each in asked if each not in outcomes]
            if good:
                request = DeleteAclsRequest(filters=[_filter(each) for each in good])
                results = (await node.request(request)).filter_results
                for each, found in zip(good, results, strict=False):
                    outcomes[each] = _deleted(found)
            return outcomes

        requests = self._running()
        return await requests.for_each(
            "delete_acls()",
            list_of("filters", filters, AclBindingFilter),
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )


def _creation(acl: AclBinding) -> AclCreation:
    return AclCreation(
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        resource_pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )


def _fault(acl: AclBinding) -> InvalidRequestError | None:
    """Return what no rule may have. Brokers would refuse the whole request for it."""
    for name, value, least in (
        ("resource_type", acl.resource_type, ResourceType.TOPIC),
        ("pattern_type", acl.pattern_type, PatternType.LITERAL),
        ("operation", acl.operation, AclOperation.ALL),
        ("permission_type", acl.permission_type, AclPermissionType.DENY),
    ):
        if not _is_known(value, type(least)):
            why = f"{quoted(value)} is none that this client knows"
        elif value < least:
            why = f"{value.name} is for filters"
        else:
            continue
        return InvalidRequestError(f"{_text(acl)}: {name}={why}; name one, such as {least.name}")
    return None


def _filter_fault(asked: AclBindingFilter) -> InvalidRequestError | None:
    """Return what no filter may have. Brokers drop the connection for it."""
    for name, value, kind in (
        ("resource_type", asked.resource_type, ResourceType),
        ("pattern_type", asked.pattern_type, PatternType),
        ("operation", asked.operation, AclOperation),
        ("permission_type", asked.permission_type, AclPermissionType),
    ):
        if not _is_known(value, kind):
            return InvalidRequestError(
                f"filter of rules: {name}={quoted(value)} is none that this client knows; name one "
                f"of {', '.join(each.name for each in kind if each)}"
            )
    return None


def _is_known(value: object, kind: type[IntEnum]) -> bool:
    """Return whether this is a member of the enum, or its number; UNKNOWN is not."""
    return is_int(value) and kind(value) != 0


def _text(acl: AclBinding) -> str:
    kind = acl.resource_type
    named = ResourceType(kind).name.lower() if is_int(kind) else repr(kind)
    return f"rule about {named} {quoted(acl.resource_name)}"


def _described(answer: DescribeAclsResponse) -> list[AclBinding]:
    return [
        AclBinding(
            ResourceType(resource.resource_type),
            resource.resource_name,
            PatternType(resource.pattern_type),
            rule.principal,
            rule.host,
            AclOperation(rule.operation),
            AclPermissionType(rule.permission_type),
        )
        for resource in answer.resources
        for rule in resource.acls
    ]


def _filter(asked: AclBindingFilter) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=asked.resource_type,
        resource_name_filter=asked.resource_name,
        pattern_type_filter=asked.pattern_type,
        principal_filter=asked.principal,
        host_filter=asked.host,
        operation=asked.operation,
        permission_type=asked.permission_type,
    )


def _deleted(result: DeleteAclsFilterResult) -> list[AclBinding] | KafkaError:
    error = broker_error(result.error_code, result.error_message, "delete_acls()")
    for each in result.matching_acls:
        error = error or broker_error(
            each.error_code, each.error_message, f"rule about {quoted(each.resource_name)}"
        )
    return error or [_removed(each) for each in result.matching_acls]


def _removed(rule: DeleteAclsMatchingAcl) -> AclBinding:
    return AclBinding(
        ResourceType(rule.resource_type),
        rule.resource_name,
        PatternType(rule.pattern_type),
        rule.principal,
        rule.host,
        AclOperation(rule.operation),
        AclPermissionType(rule.permission_type),
    )


__all__ = ["AclCalls"]
