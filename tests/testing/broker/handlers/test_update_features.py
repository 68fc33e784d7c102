"""UpdateFeatures: all levels change, or none."""

import pytest

from aiokafka_lite.errors import InvalidUpdateVersionError, NotControllerError
from aiokafka_lite.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from aiokafka_lite.testing.broker.handlers import update_features
from tests.testing.broker.bench import Bench

NAME = "transaction.version"


def ask(
    bench: Bench, *updates: FeatureUpdateKey, version: int = 2, validate_only: bool = False
) -> UpdateFeaturesResponse:
    request = UpdateFeaturesRequest(feature_updates=list(updates), validate_only=validate_only)
    return bench.ask(update_features.HANDLER, request, version)


@pytest.mark.parametrize("version", range(3))
def test_every_version_lowers_a_level(version: int) -> None:
    bench = Bench()
    update = FeatureUpdateKey(feature=NAME, max_version_level=1)
    assert ask(bench, update, version=version).error_code == InvalidUpdateVersionError.errno
    if version:
        update.upgrade_type = 2
    else:
        update.allow_downgrade = True
    answer = ask(bench, update, version=version)
    assert (answer.error_code, bench.cluster.features.level(NAME)) == (0, 1)
    assert len(answer.results) == (version < 2)


def test_all_or_none() -> None:
    bench = Bench()
    lower = FeatureUpdateKey(feature=NAME, max_version_level=1, upgrade_type=2)
    unknown = FeatureUpdateKey(feature="nothing", max_version_level=1)
    refused = ask(bench, lower, unknown)
    assert refused.error_code == InvalidUpdateVersionError.errno
    assert "does not support this feature" in (refused.error_message or "")
    assert ask(bench, lower, validate_only=True).error_code == 0
    bench.faults.fail(UpdateFeaturesRequest, NotControllerError)
    assert ask(bench, lower).error_code == NotControllerError.errno
    assert bench.cluster.features.level(NAME) == 2
