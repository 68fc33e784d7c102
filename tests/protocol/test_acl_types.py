"""The numbers of access rules are Kafka's."""

import pytest

from aiokafka_lite.protocol.acl_types import (
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)


def test_the_numbers_are_kafkas() -> None:
    assert [each.name for each in ResourceType][2:] == (
        ["TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"]
    )
    assert [each.name for each in PatternType] == ["UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED"]
    assert AclOperation(15) is AclOperation.TWO_PHASE_COMMIT
    assert AclPermissionType(3) is AclPermissionType.ALLOW


def test_a_number_of_a_newer_node_is_unknown_and_a_text_is_an_error() -> None:
    assert PatternType(5) is PatternType.UNKNOWN
    with pytest.raises(ValueError, match="'x' is not a valid"):
        PatternType("x")  # type: ignore[arg-type]
