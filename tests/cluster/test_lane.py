"""Why a client keeps several connections to one node."""

from aiokafka_lite.cluster.lane import Lane


def test_slow_urgent_and_ordinary_talk_have_lanes_of_their_own() -> None:
    """A heartbeat never queues behind a long poll (F1)."""
    assert {lane.value for lane in Lane} == {"general", "fetch", "coordinator"}
