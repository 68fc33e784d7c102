"""DescribeConfigs: each version tells what it has, each resource by itself."""

from typing import Any

import pytest

from aiokafka_lite.errors import InvalidRequestError, UnknownTopicOrPartitionError
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from aiokafka_lite.testing.broker.handlers import describe_configs
from tests.testing.broker.bench import Bench


def ask(
    bench: Bench, *asked: tuple[int, str, list[str] | None], version: int = 4, **fields: Any
) -> list[DescribeConfigsResult]:
    resources = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for kind, name, keys in asked
    ]
    request = DescribeConfigsRequest(resources=resources, **fields)
    return bench.ask(describe_configs.HANDLER, request, version).results


@pytest.mark.parametrize("version", range(1, 5))
def test_every_version_tells_values(version: int) -> None:
    bench = Bench()
    bench.topic(retention_ms="7")
    (result,) = ask(bench, (2, "t", ["retention.ms"]), version=version, include_synonyms=True)
    (entry,) = result.configs
    assert (entry.name, entry.value, entry.config_source) == ("retention.ms", "7", 1)
    assert entry.synonyms[0].value == "7"
    assert entry.config_type == (5 if version >= 3 else 0)


def test_synonyms_and_documentation_come_on_request() -> None:
    bench = Bench()
    bench.topic()
    (plain,) = ask(bench, (2, "t", ["retention.ms"]))
    assert (plain.configs[0].synonyms, plain.configs[0].documentation) == ([], None)
    (full,) = ask(bench, (2, "t", ["retention.ms"]), include_documentation=True)
    assert full.configs[0].documentation


def test_each_resource_fails_by_itself() -> None:
    bench = Bench(2)
    results = ask(bench, (2, "t", None), (4, "2", None), (4, "1", None), (8, "2", None))
    assert [result.error_code for result in results] == [
        UnknownTopicOrPartitionError.errno,
        InvalidRequestError.errno,
        0,
        InvalidRequestError.errno,
    ]
    assert results[1].error_message == (
        "Unexpected broker id, expected 1 or empty string, but received 2"
    )
