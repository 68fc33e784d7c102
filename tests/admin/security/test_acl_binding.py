"""The values of access rules: order of the fields, defaults, and numbers of newer nodes."""

from aiokafka_lite.admin import AclBinding, AclBindingFilter, AclOperation, ResourceType


def test_a_filter_matches_everything_unless_said_otherwise() -> None:
    assert AclBindingFilter() == (1, None, 1, None, None, 1, 1)


def test_a_filter_has_the_fields_of_a_rule() -> None:
    assert AclBinding._fields == AclBindingFilter._fields


def test_a_number_of_a_newer_node_is_unknown() -> None:
    assert ResourceType(99) is ResourceType.UNKNOWN
    assert AclOperation(99).name == "UNKNOWN"
