"""Values of the cluster have names, and the short forms of the proposal."""

from aiokafka_lite.admin import FeatureLevels, FeatureUpdate, QuorumInfo, QuorumReplica, UpgradeType


def test_short_forms() -> None:
    assert FeatureUpdate(2) == (2, UpgradeType.UPGRADE)
    assert FeatureLevels(1, 2)._asdict() == {"min_level": 1, "max_level": 2}
    replica = QuorumReplica(1, 20)
    assert (replica.last_fetch_timestamp, replica.last_caught_up_timestamp) == (None, None)
    assert QuorumInfo(1, 2, 20, [replica], []).nodes == {}
