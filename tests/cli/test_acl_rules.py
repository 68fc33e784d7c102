"""Words of kafka-acls become rules and filters."""

import pytest

from aiokafka_lite.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from aiokafka_lite.cli.acl_rules import (
    ALLOW,
    CONSUMER,
    DENY,
    PRODUCER,
    Resource,
    exactly,
    filters_of,
    operation_of,
    row_of,
    rules_of,
    rules_of_client,
    subjects_of,
)
from aiokafka_lite.errors import KafkaConfigurationError

ORDERS = Resource(ResourceType.TOPIC, "orders")
BILLING = Resource(ResourceType.GROUP, "billing")
CLUSTER = Resource(ResourceType.CLUSTER, "kafka-cluster")
ALICE = subjects_of(["User:alice"], [], ALLOW)


@pytest.mark.parametrize("text", ["DescribeConfigs", "describe-configs", "DESCRIBE_CONFIGS"])
def test_operations_are_written_in_many_ways(text: str) -> None:
    assert operation_of(text) is AclOperation.DESCRIBE_CONFIGS


@pytest.mark.parametrize("text", ["", "any", "unknown", "Reed"])
def test_what_is_no_operation_is_refused(text: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="use one of ALL, READ, WRITE"):
        operation_of(text)


def test_subjects_are_principals_at_hosts() -> None:
    assert subjects_of([], [], ALLOW) == []
    assert subjects_of(["User:a", "User:b"], [], DENY) == [
        ("User:a", "*", DENY),
        ("User:b", "*", DENY),
    ]
    assert subjects_of(["User:a"], ["::1", "h"], ALLOW) == [
        ("User:a", "::1", ALLOW),
        ("User:a", "h", ALLOW),
    ]
    with pytest.raises(KafkaConfigurationError, match="--deny-host needs --deny-principal"):
        subjects_of([], ["h"], DENY)
    for wrong in ("alice", "User:", ":alice"):
        with pytest.raises(KafkaConfigurationError, match="must be TYPE:NAME"):
            subjects_of([wrong], [], ALLOW)


def test_each_resource_subject_and_operation_has_a_rule() -> None:
    operations = [AclOperation.READ, AclOperation.DESCRIBE]
    found = rules_of([ORDERS, BILLING], ALICE, operations, PatternType.PREFIXED)
    assert [(rule.resource_name, rule.operation.name) for rule in found] == [
        ("orders", "READ"),
        ("orders", "DESCRIBE"),
        ("billing", "READ"),
        ("billing", "DESCRIBE"),
    ]
    assert {rule.pattern_type for rule in found} == {PatternType.PREFIXED}
    (every,) = rules_of([CLUSTER], ALICE, [], PatternType.PREFIXED)
    assert (every.operation, every.pattern_type) == (AclOperation.ALL, PatternType.LITERAL)


def test_rules_that_mean_nothing_are_refused() -> None:
    for resources, subjects, fault in (
        ([], ALICE, "name a resource"),
        ([ORDERS], [], "name --allow-principal"),
        ([BILLING], ALICE, "WRITE means nothing for a group; use ALL, DESCRIBE, READ"),
    ):
        with pytest.raises(KafkaConfigurationError, match=fault):
            rules_of(resources, subjects, [AclOperation.WRITE], PatternType.LITERAL)


def test_producers_and_consumers_need_these() -> None:
    def needs(kinds: dict[ResourceType, tuple[AclOperation, ...]]) -> list[tuple[str, str]]:
        found = rules_of_client(kinds, [ORDERS, BILLING], ALICE, PatternType.LITERAL)
        return [(rule.resource_name, rule.operation.name) for rule in found]

    assert needs(PRODUCER) == [("orders", "WRITE"), ("orders", "DESCRIBE"), ("orders", "CREATE")]
    assert needs(CONSUMER) == [("orders", "READ"), ("orders", "DESCRIBE"), ("billing", "READ")]


def test_filters_are_the_combinations_of_the_words() -> None:
    every = AclPermissionType.ANY
    assert filters_of([], None, [], [], [], every) == [AclBindingFilter()]
    (one,) = filters_of([ORDERS], None, [], [], [], every)
    assert one == AclBindingFilter(*ORDERS, PatternType.LITERAL)
    found = filters_of([ORDERS], PatternType.MATCH, ["User:a", "User:b"], ["h"], [], DENY)
    assert [(each.principal, each.host) for each in found] == [("User:a", "h"), ("User:b", "h")]
    assert {each.pattern_type for each in found} == {PatternType.MATCH}
    assert {each.permission_type for each in found} == {DENY}


def test_a_rule_has_a_row_and_a_filter_of_its_own() -> None:
    (rule,) = rules_of([ORDERS], ALICE, [], PatternType.LITERAL)
    assert row_of(rule) == ("topic", "orders", "literal", "User:alice", "*", "ALL", "allow")
    assert AclBinding(*exactly(rule)) == rule  # type: ignore[arg-type]  # the same fields
