"""ListConfigResources: names by kind, and client metrics only in the first version."""

from aiokafka_lite.errors import NotControllerError, UnsupportedVersionError
from aiokafka_lite.protocol.messages.list_config_resources import ListConfigResourcesRequest
from aiokafka_lite.testing.broker.handlers import list_config_resources
from tests.testing.broker.bench import Bench


def ask(bench: Bench, *kinds: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    request = ListConfigResourcesRequest(resource_types=list(kinds))
    answer = bench.ask(list_config_resources.HANDLER, request, version)
    found = [(each.resource_type, each.resource_name) for each in answer.config_resources]
    return answer.error_code, found


def test_names_by_kind() -> None:
    bench = Bench(2)
    bench.topic()
    bench.cluster.group_settings["g"] = {"share.session.timeout.ms": "50000"}
    bench.cluster.client_metrics_settings["m"] = {"interval.ms": "1000"}
    assert ask(bench) == (
        0,
        [(32, "g"), (16, "m"), (8, "1"), (8, "2"), (4, "1"), (4, "2"), (2, "t")],
    )
    assert ask(bench, 2, 32, 2) == (0, [(2, "t"), (32, "g")])
    assert ask(bench, version=0) == (0, [(16, "m")])
    assert ask(bench, 3) == (UnsupportedVersionError.errno, [])
    bench.faults.fail(ListConfigResourcesRequest, NotControllerError)
    assert ask(bench) == (NotControllerError.errno, [])
