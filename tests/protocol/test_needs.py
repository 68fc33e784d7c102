"""What requests say of the release that they need, held against what the releases offer.

`tests/conformance/api_ranges.json` has the versions of each release.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from aiokafka_lite.protocol.api_registry import API_BY_KEY, Api
from aiokafka_lite.schema.field_types import ArrayOf
from aiokafka_lite.schema.versioned_struct import Struct, StructField, fields_of
from tests.support.releases import RANGES

FILLED_BY_VERSION: Final = {
    "AddPartitionsToTxn": {
        "transactions",  # brokers use these versions; clients stay below
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
    },
    "Fetch": {"replica_id", "replica_state", "last_fetched_epoch", "forgotten_topics_data"},
    "FindCoordinator": {"key", "key_type", "coordinator_keys"},
    "LeaveGroup": {"member_id"},
    "OffsetFetch": {"group_id", "topics", "groups"},
    "UpdateFeatures": {"allow_downgrade"},
}
"""Fields whose value the code chooses by the version, or that say the same in another form."""
OLDEST: Final = "2.1"
Releases = dict[tuple[int, int], dict[str, str]]


def first_releases() -> Releases:
    """Return the first release of each (API key, version), by kind of controllers."""
    found: Releases = {}
    for name, told in json.loads(RANGES.read_text(encoding="utf-8")).items():
        version, mode = name.split()
        for api, (low, high) in told.items():
            for number in range(low, high + 1):
                firsts = found.setdefault((int(api.split()[0]), number), {})
                firsts.setdefault(mode, version.rpartition(".")[0])
    return found


FIRST: Final = first_releases()
PREVIEWS: Final = {"ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "ListConfigResources"}
"""Offered before the release that they are said to need: without the feature, or for less."""
apis = pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)


def named(text: str) -> list[str]:
    """Return the releases in a text."""
    return re.findall(r"\b\d\.\d\b", text)


@apis
def test_an_api_that_the_oldest_release_lacks_says_which_one_has_it(api: Api) -> None:
    firsts = FIRST.get((api.key, api.versions.min), {})
    needs = api.request.needs
    if firsts.get("zookeeper") == OLDEST and firsts.get("kraft") == "3.3":
        assert not needs
        return
    assert re.search(r"^Kafka .*\(KIP-\d+\)$", needs)
    if api.name in PREVIEWS:
        return
    expected = [firsts[mode] for mode in ("zookeeper", "kraft") if mode in firsts]
    expected = ["1.1" if each == OLDEST else each for each in expected]
    if firsts.get("kraft") == "3.3" and "zookeeper" in firsts:
        expected.remove("3.3")  # KRaft has had it from the beginning
    assert named(needs) == list(dict.fromkeys(expected))


def structs_of(kind: type[Struct]) -> Iterator[type[Struct]]:
    """Yield a struct, and those in it."""
    yield kind
    for field in fields_of(kind):
        inner: Any = field.type
        while isinstance(inner, ArrayOf):
            inner = inner.element
        if isinstance(inner, type) and issubclass(inner, Struct):
            yield from structs_of(inner)


def refusable(api: Api) -> Iterator[StructField]:
    """Yield the fields of a request that a version spoken here lacks and refuses."""
    for kind in structs_of(api.request):
        for field in fields_of(kind):
            spoken = range(api.versions.min, api.versions.max + 1)
            in_form = kind is api.request or all(each in field.versions for each in spoken)
            if not field.ignorable and not all(each in field.versions for each in spoken):
                assert in_form or field.versions, field.name
                yield field


@apis
def test_a_field_that_older_versions_refuse_says_what_it_is_for(api: Api) -> None:
    for field in refusable(api):
        firsts = FIRST.get((api.key, field.versions.min), {})
        if firsts.get("zookeeper") == OLDEST and not field.needs:
            continue
        if field.name in FILLED_BY_VERSION.get(api.name, set()):
            assert not field.needs
            continue
        if api.name == "AddPartitionsToTxn":
            continue  # the structs of `transactions`
        assert re.search(r"^[^.]* needs? Kafka \d\.\d \(KIP-\d+\)$", field.needs), field.name
        if api.name == "ConsumerGroupHeartbeat":
            assert firsts["kraft"] == "4.0"
        assert named(field.needs) == [firsts.get("zookeeper") or firsts["kraft"]], field.name


def test_the_table_names_fields_that_there_are() -> None:
    by_name = {api.name: {field.name for field in refusable(api)} for api in API_BY_KEY.values()}
    for name, fields in FILLED_BY_VERSION.items():
        assert fields <= by_name[name], name
