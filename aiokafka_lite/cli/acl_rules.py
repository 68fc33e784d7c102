"""Access rules from the words of kafka-acls, Kafka's own tool. Does not wait."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final, NamedTuple

from aiokafka_lite.admin.security.acl_binding import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError

ALLOW: Final = AclPermissionType.ALLOW
DENY: Final = AclPermissionType.DENY
COLUMNS: Final = ("resource", "name", "pattern", "principal", "host", "operation", "permission")
PRODUCER: Final = {
    ResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
    ResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
}
"""What a producer needs, as AclCommand has it."""
CONSUMER: Final = {
    ResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE),
    ResourceType.GROUP: (AclOperation.READ,),
}
"""What a consumer needs, as AclCommand has it."""
_ALWAYS: Final = (AclOperation.ALL, AclOperation.DESCRIBE)
_SUPPORTED: Final = {
    ResourceType.TOPIC: "READ WRITE CREATE DELETE ALTER DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.GROUP: "READ DELETE DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.CLUSTER: (
        "CREATE ALTER CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE"
    ),
    ResourceType.TRANSACTIONAL_ID: "WRITE TWO_PHASE_COMMIT",
    ResourceType.DELEGATION_TOKEN: "",
    ResourceType.USER: "CREATE_TOKENS DESCRIBE_TOKENS",
}
"""The operations that mean anything for a resource, as AclEntry has them."""


class Resource(NamedTuple):
    """What rules are about."""

    kind: ResourceType
    name: str


class Subject(NamedTuple):
    """Which clients rules are about, and whether the rules allow or deny."""

    principal: str
    host: str
    permission: AclPermissionType


def operation_of(text: str) -> AclOperation:
    """Return the operation of a name such as Read, DescribeConfigs or describe-configs.

    Raises: KafkaConfigurationError for other texts.
    """
    wanted = text.replace("-", "").replace("_", "").lower()
    known = {each.name.replace("_", "").lower(): each for each in AclOperation if each > 1}
    if wanted not in known:
        names = ", ".join(each.name for each in known.values())
        raise KafkaConfigurationError(f"--operation {quoted(text)} is unknown; use one of {names}")
    return known[wanted]


def subjects_of(
    principals: Sequence[str], hosts: Sequence[str], permission: AclPermissionType
) -> list[Subject]:
    """Return each principal at each host; without hosts, everywhere.

    Raises: KafkaConfigurationError for a principal that is not TYPE:NAME, and for hosts alone.
    """
    word = permission.name.lower()
    if hosts and not principals:
        raise KafkaConfigurationError(f"--{word}-host needs --{word}-principal")
    for each in principals:
        kind, colon, name = each.partition(":")
        if not (kind and colon and name):
            raise KafkaConfigurationError(
                f"--{word}-principal {quoted(each)} must be TYPE:NAME, such as User:alice"
            )
    return [Subject(who, host, permission) for who in principals for host in hosts or ["*"]]


def rules_of(
    resources: Sequence[Resource],
    subjects: Sequence[Subject],
    operations: Sequence[AclOperation],
    pattern: PatternType,
) -> list[AclBinding]:
    """Return a rule for each resource, subject and operation; without operations, for ALL.

    Raises: KafkaConfigurationError without resources or subjects, and for an operation that means
    nothing for a resource.
    """
    if not resources:
        raise KafkaConfigurationError("name a resource, such as --topic orders or --cluster")
    if not subjects:
        raise KafkaConfigurationError("name --allow-principal or --deny-principal")
    rules: list[AclBinding] = []
    for resource, operation in product(resources, operations or [AclOperation.ALL]):
        names = _SUPPORTED[resource.kind].split()
        if operation not in _ALWAYS and operation.name not in names:
            raise KafkaConfigurationError(
                f"operation {operation.name} means nothing for a {resource.kind.name.lower()}; use"
                f" {', '.join((*(each.name for each in _ALWAYS), *names))}"
            )
        rules += _each(resource, subjects, operation, pattern)
    return rules


def rules_of_client(
    needs: dict[ResourceType, tuple[AclOperation, ...]],
    resources: Sequence[Resource],
    subjects: Sequence[Subject],
    pattern: PatternType,
) -> list[AclBinding]:
    """Return the rules that a producer or a consumer needs on the resources that it uses."""
    return [
        rule
        for resource in resources
        for operation in needs.get(resource.kind, ())
        for rule in _each(resource, subjects, operation, pattern)
    ]


def _each(
    resource: Resource,
    subjects: Sequence[Subject],
    operation: AclOperation,
    pattern: PatternType,
) -> Iterator[AclBinding]:
    # The cluster has one name, and users are named in full.
    is_literal = resource.kind in {ResourceType.CLUSTER, ResourceType.USER}
    chosen = PatternType.LITERAL if is_literal else pattern
    for who, host, permission in subjects:
        yield AclBinding(*resource, chosen, who, host, operation, permission)


def filters_of(
    resources: Sequence[Resource],
    pattern: PatternType | None,
    principals: Sequence[str],
    hosts: Sequence[str],
    operations: Sequence[AclOperation],
    permission: AclPermissionType,
) -> list[AclBindingFilter]:
    """Return a filter for each combination; what is not named matches everything.

    Without a pattern, the rules with exactly the name of the resource match.
    """
    chosen = pattern or (PatternType.LITERAL if resources else PatternType.ANY)
    abouts: Sequence[tuple[ResourceType, str | None]] = resources or [(ResourceType.ANY, None)]
    everybody: list[str | None] = [None]
    return [
        AclBindingFilter(kind, name, chosen, who, host, operation, permission)
        for (kind, name), who, host, operation in product(
            abouts, principals or everybody, hosts or everybody, operations or [AclOperation.ANY]
        )
    ]


def exactly(rule: AclBinding) -> AclBindingFilter:
    """Return the filter that matches this rule only."""
    return AclBindingFilter(*rule)


def row_of(rule: AclBinding) -> tuple[str, ...]:
    """Return the cells of a rule, as `COLUMNS` names them."""
    return (
        *(rule.resource_type.name.lower(), rule.resource_name, rule.pattern_type.name.lower()),
        *(rule.principal, rule.host, rule.operation.name, rule.permission_type.name.lower()),
    )


__all__ = [
    "ALLOW",
    "COLUMNS",
    "CONSUMER",
    "DENY",
    "PRODUCER",
    "Resource",
    "Subject",
    "exactly",
    "filters_of",
    "operation_of",
    "row_of",
    "rules_of",
    "rules_of_client",
    "subjects_of",
]
