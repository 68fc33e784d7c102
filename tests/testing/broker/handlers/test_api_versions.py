"""ApiVersions: what is told is what is routed (KIP-35, KIP-511)."""

import pytest

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handlers import api_versions
from aiokafka_lite.testing.broker.router import HANDLERS
from tests.testing.broker.bench import Bench

ASK = ApiVersionsRequest(client_software_name="x", client_software_version="1.0")


def test_every_handler_is_advertised_with_its_versions() -> None:
    answer = Bench().ask(api_versions.HANDLER, ASK, 5)
    told = {entry.api_key: (entry.min_version, entry.max_version) for entry in answer.api_keys}
    routed = {
        h.request_type.api_key: (h.versions.min, h.versions.max)
        for h in HANDLERS
        if not h.is_for_telemetry
    }
    routed[ApiKey.PRODUCE] = (0, 13)  # KAFKA-18659
    assert told == routed


def test_every_version_is_answered() -> None:
    for version in range(6):
        assert Bench().ask(api_versions.HANDLER, ASK, version).error_code == 0


def test_unsupported_version_names_the_range_of_this_api_only() -> None:
    """UNSUPPORTED_VERSION comes with the range of ApiVersions alone (2f-6)."""
    answer = api_versions.unsupported_version(VersionRange(0, 3))
    assert answer.error_code == 35
    assert [(e.api_key, e.min_version, e.max_version) for e in answer.api_keys] == [(18, 0, 3)]


def test_an_injected_error_comes_without_versions() -> None:
    bench = Bench()
    bench.faults.fail(ApiVersionsRequest, 58)
    answer = bench.ask(api_versions.HANDLER, ASK, 4)
    assert (answer.error_code, answer.api_keys) == (58, [])


@pytest.mark.parametrize("version", ["", "1 0", "-1", "1."])
def test_the_clients_software_must_be_named_in_words(version: str) -> None:
    """ApiVersions refuses a software name or version with forbidden characters (KIP-511)."""
    request = ApiVersionsRequest(client_software_name="x", client_software_version=version)
    assert Bench().ask(api_versions.HANDLER, request, 3).error_code == 42
    assert Bench().ask(api_versions.HANDLER, request, 2).error_code == 0


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("version", range(6))
def test_the_level_of_transactions_is_told_where_it_can_be(version: int, level: int) -> None:
    """A feature that starts at 0 is listed from version 4 on (KIP-584, KAFKA-17011)."""
    bench = Bench(transaction_version=level)
    answer = bench.ask(api_versions.HANDLER, ASK, version)
    told = {e.name: (e.min_version_level, e.max_version_level) for e in answer.finalized_features}
    has_level = version >= 3 and level > 0
    assert told.get("transaction.version") == ((level, level) if has_level else None)
    assert ("metadata.version" in told) == (version >= 3)
    assert answer.finalized_features_epoch == (0 if version >= 3 else -1)
    supported = {e.name: (e.min_version, e.max_version) for e in answer.supported_features}
    from_1 = {"metadata.version": (7, 33)}
    assert supported.items() >= (from_1 if version >= 3 else {}).items()
    assert supported.get("transaction.version") == ((0, 2) if version >= 4 else None)
    assert version >= 4 or supported.keys() <= from_1.keys()


@pytest.mark.parametrize(
    ("cluster", "node", "code"),
    [
        ("mine", 1, 0),
        ("mine", 2, 129),
        ("other", 1, 129),
        ("mine", -1, 42),
        (None, 1, 42),
        (None, -1, 0),
    ],
)
def test_who_means_another_node_is_told_so(cluster: str | None, node: int, code: int) -> None:
    """From version 5 on ApiVersions names cluster and node together, or neither (KIP-1242)."""
    bench = Bench(2)
    meant = ApiVersionsRequest(
        client_software_name="x",
        client_software_version="1.0",
        cluster_id=bench.cluster.cluster_id if cluster == "mine" else cluster,
        node_id=node,
    )
    answer = bench.ask(api_versions.HANDLER, meant, 5, 1)
    assert (answer.error_code, bool(answer.api_keys)) == (code, code == 0)
    assert bench.ask(api_versions.HANDLER, ASK, 4, 1).error_code == 0
