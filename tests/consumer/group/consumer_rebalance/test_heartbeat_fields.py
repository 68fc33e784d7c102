"""A heartbeat says everything at first, and then only what has changed since."""

from dataclasses import fields, replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import (
    HeartbeatFields,
    MemberWishes,
    ToldWishes,
    TopicIdPartitions,
)

T1 = UUID(int=1)
WISHES = MemberWishes(
    rebalance_timeout_ms=60_000,
    topics=frozenset({"orders", "bills"}),
    assignor="range",
    rack_id="r1",
)
OWNED = frozenset({(T1, 0)})

wishes = st.builds(
    MemberWishes,
    rebalance_timeout_ms=st.sampled_from([1, 60_000]),
    topics=st.frozensets(st.sampled_from(["a", "b"])),
    regex=st.sampled_from(["", "a.*"]),
    assignor=st.sampled_from([None, "range"]),
    rack_id=st.sampled_from([None, "r1"]),
)
partitions = st.frozensets(st.tuples(st.just(T1), st.integers(0, 2)))


class Coordinator:
    """Knows of a member what its heartbeats have said."""

    def __init__(self) -> None:
        self.knows: dict[str, object] = {}

    def hears(self, told: HeartbeatFields) -> None:
        for each in fields(told):
            value = getattr(told, each.name)
            if value not in (None, -1):
                self.knows[each.name] = value


def test_the_first_heartbeat_says_everything() -> None:
    told = ToldWishes().tell(WISHES, OWNED)
    assert told == HeartbeatFields(
        rebalance_timeout_ms=60_000,
        topics=("bills", "orders"),
        assignor="range",
        rack_id="r1",
        owned=OWNED,
    )


def test_the_next_heartbeat_is_quiet() -> None:
    told = ToldWishes()
    assert told.is_news(WISHES)
    assert told.tell(WISHES, OWNED) != HeartbeatFields()
    assert not told.is_news(WISHES)
    assert told.tell(WISHES, OWNED) == HeartbeatFields()


def test_a_heartbeat_says_what_has_changed() -> None:
    told = ToldWishes()
    told.tell(WISHES, OWNED)
    changed = replace(WISHES, topics=frozenset({"c"}))
    assert told.tell(changed, OWNED) == HeartbeatFields(topics=("c",))


def test_partitions_are_named_where_that_acknowledges_something() -> None:
    """The coordinator draws conclusions from what is not named."""
    told = ToldWishes()
    told.tell(WISHES, OWNED)
    assert told.tell(WISHES, frozenset()) == HeartbeatFields()
    acknowledgement = told.tell(WISHES, frozenset(), acknowledges=True)
    assert acknowledgement == HeartbeatFields(owned=frozenset())


def test_an_expression_is_taken_back_by_an_empty_one() -> None:
    told = ToldWishes()
    assert told.tell(replace(WISHES, regex="a.*"), OWNED).regex == "a.*"
    assert told.tell(WISHES, OWNED).regex == ""


def test_after_a_failure_everything_is_said_again() -> None:
    told = ToldWishes()
    first = told.tell(WISHES, OWNED)
    told.forget()
    assert told.is_news(WISHES)
    assert told.tell(WISHES, OWNED) == first


@given(st.lists(st.tuples(wishes, partitions, st.booleans(), st.booleans())))
def test_the_coordinator_knows_what_the_member_wants(
    steps: list[tuple[MemberWishes, TopicIdPartitions, bool, bool]],
) -> None:
    """Assignor and rack of a member do not change, so that no heartbeat takes them back."""
    told, coordinator = ToldWishes(), Coordinator()
    for each, owned, acknowledges, has_failed in steps:
        wanted = replace(each, assignor="range", rack_id="r1")
        if has_failed:
            told.forget()
        fields_told = told.tell(wanted, owned, acknowledges=acknowledges)
        if has_failed or acknowledges:
            assert fields_told.owned == owned
        coordinator.hears(fields_told)
        assert coordinator.knows["rebalance_timeout_ms"] == wanted.rebalance_timeout_ms
        assert coordinator.knows["topics"] == tuple(sorted(wanted.topics))
        if not has_failed:
            assert coordinator.knows.get("regex", "") == wanted.regex
        else:
            coordinator.knows["regex"] = wanted.regex
