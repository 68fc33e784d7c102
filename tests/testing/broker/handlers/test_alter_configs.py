"""AlterConfigs: what is not named goes back to its default."""

import pytest

from aiokafka_lite.errors import InvalidRequestError, NotControllerError
from aiokafka_lite.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from aiokafka_lite.testing.broker.handlers import alter_configs
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench,
    *settings: dict[str, str | None],
    version: int = 2,
    validate_only: bool = False,
) -> list[int]:
    resources = [
        AlterConfigsResource(
            resource_type=2,
            resource_name="t",
            configs=[AlterableConfig(name=name, value=value) for name, value in each.items()],
        )
        for each in settings
    ]
    request = AlterConfigsRequest(resources=resources, validate_only=validate_only)
    answer = bench.ask(alter_configs.HANDLER, request, version)
    return [each.error_code for each in answer.responses]


@pytest.mark.parametrize("version", range(3))
def test_every_version_replaces(version: int) -> None:
    bench = Bench()
    topic = bench.topic(retention_ms="7")
    assert ask(bench, {"max.message.bytes": "100"}, version=version) == [0]
    assert topic.config.settings == {"max.message.bytes": "100"}
    assert topic.partitions[0].config.max_message_bytes == 100


def test_what_is_refused_changes_nothing() -> None:
    bench = Bench()
    topic = bench.topic(retention_ms="7")
    assert ask(bench, {}, {}) == [InvalidRequestError.errno] * 2
    assert ask(bench, {"retention.ms": None}) == [InvalidRequestError.errno]
    assert ask(bench, {}, validate_only=True) == [0]
    bench.faults.fail(AlterConfigsRequest, NotControllerError)
    assert ask(bench, {}) == [NotControllerError.errno]
    assert topic.config.settings == {"retention.ms": "7"}
