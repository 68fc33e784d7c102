"""IncrementalAlterConfigs: what is not named stays."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from aiokafka_lite.testing.broker.handlers import incremental_alter_configs
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench,
    *changes: tuple[str, int, str | None],
    version: int = 1,
    validate_only: bool = False,
    times: int = 1,
) -> list[int]:
    resource = AlterConfigsResource(
        resource_type=2,
        resource_name="t",
        configs=[
            AlterableConfig(name=name, config_operation=done, value=value)
            for name, done, value in changes
        ],
    )
    request = IncrementalAlterConfigsRequest(
        resources=[resource] * times, validate_only=validate_only
    )
    answer = bench.ask(incremental_alter_configs.HANDLER, request, version)
    return [each.error_code for each in answer.responses]


@pytest.mark.parametrize("version", range(2))
def test_every_version_changes(version: int) -> None:
    bench = Bench()
    topic = bench.topic(retention_ms="7", segment_ms="8")
    changes = [("retention.ms", 1, None), ("retention.bytes", 0, "100")]
    assert ask(bench, *changes, version=version) == [0]
    assert topic.config.settings == {"segment.ms": "8", "retention.bytes": "100"}
    assert topic.partitions[0].log.retention_bytes == 100


def test_what_is_refused_changes_nothing() -> None:
    bench = Bench()
    topic = bench.topic()
    change = ("retention.ms", 0, "7")
    assert ask(bench, change, times=2) == [InvalidRequestError.errno] * 2
    assert ask(bench, change, ("nothing", 0, "7")) == [InvalidConfigurationError.errno]
    assert ask(bench, change, validate_only=True) == [0]
    assert topic.config.settings == {}
