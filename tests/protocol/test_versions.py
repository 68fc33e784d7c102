"""Choosing a version with one broker (2f-6): the highest both speak, or an error before sending."""

import pytest

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.version_range import VersionRange


@pytest.mark.parametrize(
    ("broker", "limit", "version"),
    [
        ((4, 18), None, 18),
        ((0, 11), None, 11),
        ((4, 99), None, 18),
        ((4, 18), 12, 12),
        ((4, 18), 99, 18),
        ((18, 20), None, 18),
        ((4, 4), None, 4),
    ],
)
def test_the_highest_common_version_is_taken(
    broker: tuple[int, int], limit: int | None, version: int
) -> None:
    node = NodeApiVersions({1: broker})
    assert node.pick(FetchRequest, limit) == version
    assert node.max_version(FetchRequest, limit) == version


@pytest.mark.parametrize(
    ("ranges", "limit", "reported"),
    [
        ({}, None, "the broker does not have Fetch; versions 4-18 of Fetch are spoken here"),
        ({1: (0, 3)}, None, "the broker speaks versions 0-3 of Fetch, but versions 4-18"),
        ({1: (19, 20)}, None, "the broker speaks versions 19-20 of Fetch"),
        ({1: (13, 18)}, 12, r"speaks versions 13-18 of Fetch, .* \(for this call up to 12\)"),
    ],
)
def test_without_a_common_version_both_ranges_are_named(
    ranges: dict[int, tuple[int, int]], limit: int | None, reported: str
) -> None:
    node = NodeApiVersions(ranges)
    assert node.max_version(FetchRequest, limit) is None
    with pytest.raises(UnsupportedVersionError, match=reported):
        node.pick(FetchRequest, limit)


def test_ranges_and_features_come_from_the_answer() -> None:
    node = NodeApiVersions.from_response(
        ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=1, min_version=4, max_version=17),
                ApiVersion(api_key=2, min_version=3, max_version=1),
            ],
            supported_features=[
                SupportedFeatureKey(name="transaction.version", min_version=0, max_version=2)
            ],
            finalized_features_epoch=7,
            finalized_features=[
                FinalizedFeatureKey(
                    name="transaction.version", min_version_level=2, max_version_level=2
                )
            ],
        )
    )
    assert node.ranges == {1: (4, 17)}
    assert node.supported_features == {"transaction.version": VersionRange(0, 2)}
    assert node.finalized_level("transaction.version") == 2
    assert node.finalized_level("group.version") == 0


def test_finalized_features_count_only_with_a_known_epoch() -> None:
    """Feature levels with an epoch of -1 are not known (KIP-584)."""
    node = NodeApiVersions({}, finalized_features={"transaction.version": VersionRange(2, 2)})
    assert node.finalized_level("transaction.version") == 0
