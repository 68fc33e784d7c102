"""Which topics a client wants metadata of (2f-13)."""

from aiokafka_lite.cluster.metadata.topic_interest import TopicInterest


def test_nothing_is_of_interest_at_first() -> None:
    interest = TopicInterest(300.0)
    assert not interest.wants_all
    assert interest.named() == []
    assert "t" not in interest


def test_fixed_topics_are_replaced_and_say_whether_some_are_new() -> None:
    interest = TopicInterest(300.0)
    assert interest.fix(["a", "b"])
    assert not interest.fix(["a"])
    assert interest.named() == ["a"]
    assert interest.fix(["a", "c"])
    assert not interest.fix([])


def test_all_topics_may_be_wanted() -> None:
    interest = TopicInterest(300.0)
    assert interest.fix(None)
    assert not interest.fix(None)
    assert interest.wants_all
    assert "anything" in interest
    interest.fix(["a"])
    assert not interest.wants_all
    assert "anything" not in interest


def test_a_used_topic_is_forgotten_when_idle_for_long() -> None:
    """A topic that is unused for `metadata_max_idle_ms` is forgotten (2f-13)."""
    interest = TopicInterest(300.0)
    assert interest.use("t", 0.0)
    assert not interest.use("t", 200.0)
    interest.expire(499.0)
    assert "t" in interest
    interest.expire(501.0)
    assert "t" not in interest
    assert interest.use("t", 502.0)


def test_fixed_topics_do_not_expire_and_using_one_is_nothing_new() -> None:
    interest = TopicInterest(300.0)
    interest.fix(["t"])
    assert not interest.use("t", 0.0)
    interest.expire(1000.0)
    assert interest.named() == ["t"]


def test_of_all_topics_those_matter_that_are_said_to_and_those_in_use() -> None:
    interest = TopicInterest(300.0)
    interest.fix(None, lambda topic: topic == "mine")
    interest.use("asked", 0.0)
    assert [interest.matters(topic) for topic in ("mine", "asked", "strange")] == [1, 1, 0]
    interest.fix(["strange"])
    assert interest.matters("strange")
