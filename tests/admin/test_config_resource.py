"""What has a configuration is named by its kind and its name."""

import pytest

from aiokafka_lite.admin.config_resource import AlterConfigOp, ConfigResource, ConfigResourceType


@pytest.mark.parametrize("kind", [ConfigResourceType.TOPIC, 2, "topic", "TOPIC"])
def test_a_kind_is_a_member_a_number_or_a_name(kind: ConfigResourceType | int | str) -> None:
    resource = ConfigResource(kind, "t", {"retention.ms": (AlterConfigOp.SET, "1")})
    assert resource.resource_type is ConfigResourceType.TOPIC
    assert (resource.name, resource.configs) == ("t", {"retention.ms": (AlterConfigOp.SET, "1")})
    assert repr(resource).startswith("ConfigResource(TOPIC, 't', {'retention.ms': ")


def test_a_broker_is_named_by_its_id_too() -> None:
    assert ConfigResource(ConfigResourceType.BROKER, 1) == ConfigResource("broker", "1")
    assert ConfigResource("broker", 1).name == "1"


def test_all_entries_are_the_default() -> None:
    assert ConfigResource("broker", "1").configs is None


@pytest.mark.parametrize(("kind", "error"), [(3, ValueError), ("table", KeyError)])
def test_a_kind_that_kafka_lacks_is_refused(kind: int | str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"3|TABLE"):
        ConfigResource(kind, "t")
