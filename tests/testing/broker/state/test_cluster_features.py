"""Features: which levels are possible, and what a change does."""

import pytest

from aiokafka_lite.errors import InvalidUpdateVersionError
from aiokafka_lite.testing.broker.state.cluster_features import (
    SAFE_DOWNGRADE,
    TRANSACTION_VERSION,
    UPGRADE,
    ClusterFeatures,
)


def test_a_level_goes_up_or_on_request_down() -> None:
    features = ClusterFeatures({TRANSACTION_VERSION: 1})
    features.check(TRANSACTION_VERSION, 2, UPGRADE, 1)
    features.check(TRANSACTION_VERSION, 0, SAFE_DOWNGRADE, 1)
    features.update({TRANSACTION_VERSION: 1})
    assert features.epoch == 0
    features.update({TRANSACTION_VERSION: 2})
    assert (features.level(TRANSACTION_VERSION), features.epoch) == (2, 1)
    assert features.level("nothing") == 0


@pytest.mark.parametrize(
    ("name", "level", "why"),
    [
        (TRANSACTION_VERSION, 0, "Can't downgrade the version"),
        (TRANSACTION_VERSION, 3, "Local controller 7 only supports versions 0-2"),
        ("nothing", 1, "Local controller 7 does not support this feature"),
        ("nothing", 0, "Feature nothing not found"),
    ],
)
def test_what_is_refused(name: str, level: int, why: str) -> None:
    features = ClusterFeatures({TRANSACTION_VERSION: 1})
    with pytest.raises(InvalidUpdateVersionError, match=why):
        features.check(name, level, UPGRADE, 7)
