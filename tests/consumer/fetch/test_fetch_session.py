"""Fetch sessions (D1 to D4, 2a-2 to 2a-11), and any history against a broker's own book."""

import logging
from collections.abc import Mapping
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.fetch.fetch_session import (
    FetchSession,
    FetchSessionRequest,
    ForgottenPartition,
    SessionPartition,
)
from aiokafka_lite.errors import (
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InconsistentTopicIdError,
    InvalidFetchSessionEpoch,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.consumer.batches import tps

ID_A, ID_B = UUID(int=1), UUID(int=2)
P0, P1, P2, P3 = tps(0, 1, 2, 3)


def at(offset: int, topic_id: UUID = ID_A, epoch: int = 0) -> SessionPartition:
    return SessionPartition(topic_id, offset, 1_048_576, epoch)


def answer(session: FetchSession, *partitions: TopicPartition, **fields: object) -> bool:
    values = {"error_code": 0, "session_id": 11, "throttle_time_ms": 0, **fields}
    return session.handle_response(partitions=partitions, **values)  # type: ignore[arg-type]  # a test's own fields


def build(
    session: FetchSession, wanted: Mapping[TopicPartition, SessionPartition]
) -> FetchSessionRequest:
    """The request after which the session holds exactly `wanted`, in that order."""
    for tp in set(session.wanted) - set(wanted):
        session.unwant(tp)
    for tp, data in wanted.items():
        session.want(tp, data)
    return session.build(list(wanted).index)


def opened(*partitions: TopicPartition, topic_id: UUID = ID_A) -> FetchSession:
    """A session that the broker has granted for these partitions, all at offset 0."""
    session = FetchSession(1)
    build(session, {tp: at(0, topic_id) for tp in partitions})
    assert answer(session, *partitions)
    return session


# Requests…


def test_2a_1_the_first_request_is_full_with_id_0_and_epoch_0() -> None:
    request = build(FetchSession(1), {P0: at(0), P1: at(5)})
    assert (request.session_id, request.session_epoch) == (0, 0)
    assert request.is_full
    assert list(request.to_send) == [P0, P1]


def test_2a_2_a_full_request_keeps_the_order_given() -> None:
    request = build(FetchSession(1), {P2: at(0), P0: at(0), P1: at(0)})
    assert list(request.to_send) == [P2, P0, P1]


def test_2a_3_a_granted_session_starts_with_epoch_1_and_counts() -> None:
    session = opened(P0)
    for epoch in (1, 2, 3):
        request = build(session, {P0: at(0)})
        assert (request.session_id, request.session_epoch) == (11, epoch)
        assert not request.is_full
        assert answer(session)


def test_2a_3_the_epoch_wraps_to_1() -> None:
    session = opened(P0)
    session.epoch = 2**31 - 1
    assert build(session, {P0: at(0)}).session_epoch == 2**31 - 1
    assert answer(session)
    assert build(session, {P0: at(0)}).session_epoch == 1


def test_d2_without_change_the_request_is_empty() -> None:
    request = build(opened(P0, P1), {P0: at(0), P1: at(0)})
    assert not request.to_send
    assert not request.to_forget
    assert not request.to_replace


@pytest.mark.parametrize(
    "changed",
    [at(1), at(0, epoch=1), at(0)._replace(max_bytes=2)],
    ids=["fetch offset", "leader epoch", "max bytes"],
)
def test_2a_4_what_changed_is_sent_and_moves_to_the_end(changed: SessionPartition) -> None:
    session = opened(P0, P1, P2)
    request = build(session, {P0: changed, P1: at(0), P2: at(0)})
    assert dict(request.to_send) == {P0: changed}
    assert list(session.partitions) == [P1, P2, P0]


def test_2a_4_what_is_missing_is_forgotten_and_what_is_new_joins_at_the_end() -> None:
    session = opened(P0, P1)
    request = build(session, {P1: at(0), P2: at(9)})
    assert dict(request.to_send) == {P2: at(9)}
    assert request.to_forget == (ForgottenPartition(P0, ID_A),)
    assert list(session.partitions) == [P1, P2]


def test_2a_4_a_topic_id_that_becomes_known_is_a_change_not_a_replacement() -> None:
    session = opened(P0, topic_id=ZERO_UUID)
    request = build(session, {P0: at(0, ID_A)})
    assert dict(request.to_send) == {P0: at(0, ID_A)}
    assert not request.to_replace


def test_2a_5_another_topic_id_replaces_the_partition() -> None:
    """A partition whose topic id changed is sent again and takes the old one's place (D3)."""
    session = opened(P0, P1)
    request = build(session, {P0: at(0, ID_B), P1: at(0)})
    assert dict(request.to_send) == {P0: at(0, ID_B)}
    assert request.to_replace == (ForgottenPartition(P0, ID_A),)
    assert not request.to_forget
    assert session.topic_name(ID_B) == "t"


def test_2a_6_one_partition_without_an_id_keeps_all_ids_out() -> None:
    session = FetchSession(1)
    request = build(session, {P0: at(0), TopicPartition("u", 0): at(0, ZERO_UUID)})
    assert not request.can_use_topic_ids
    assert session.topic_name(ID_A) is None


def test_2a_6_a_removed_partition_without_an_id_keeps_all_ids_out() -> None:
    session = opened(P0, P1, topic_id=ZERO_UUID)
    request = build(session, {P0: at(0, ID_A)})
    assert request.to_forget == (ForgottenPartition(P1, ZERO_UUID),)
    assert not request.can_use_topic_ids
    assert session.topic_name(ID_A) is None


@pytest.mark.parametrize("is_new", [True, False], ids=["joins", "stays as it was"])
def test_2a_6_in_an_incremental_request_too_one_partition_without_an_id_keeps_all_ids_out(
    is_new: bool,
) -> None:
    """All that is wanted counts, not only what is sent; and for that request alone."""
    nameless = TopicPartition("u", 0)
    session = FetchSession(1)
    before = {P0: at(0)} if is_new else {P0: at(0), nameless: at(0, ZERO_UUID)}
    build(session, before)
    assert answer(session, *before)
    request = build(session, {P0: at(1), nameless: at(0, ZERO_UUID)})
    assert not request.is_full
    assert (nameless in request.to_send) is is_new
    assert not request.can_use_topic_ids
    assert session.topic_name(ID_A) is None
    assert answer(session, P0)
    assert build(session, {P0: at(2), nameless: at(0, ID_B)}).can_use_topic_ids
    assert session.topic_name(ID_B) == "u"


def test_2a_6_with_all_ids_known_they_are_used() -> None:
    session = FetchSession(1)
    assert build(session, {P0: at(0)}).can_use_topic_ids
    assert session.topic_name(ID_A) == "t"


# Answers…


def test_2a_7_an_unknown_session_is_begun_anew_without_an_id() -> None:
    """After FETCH_SESSION_ID_NOT_FOUND the next request starts anew without a session id (D4)."""
    session = opened(P0)
    build(session, {P0: at(0)})
    assert not answer(session, error_code=FetchSessionIdNotFound.errno)
    request = build(session, {P0: at(0)})
    assert (request.session_id, request.session_epoch) == (0, 0)
    assert list(request.to_send) == [P0]


@pytest.mark.parametrize(
    "error", [InvalidFetchSessionEpoch, FetchSessionTopicIdError, InconsistentTopicIdError]
)
def test_2a_7_any_other_error_closes_the_session_by_the_next_full_request(
    error: type[InvalidFetchSessionEpoch],
) -> None:
    """After any other session error the next full request closes the old session (D4)."""
    session = opened(P0)
    build(session, {P0: at(0)})
    assert not answer(session, error_code=error.errno)
    request = build(session, {P0: at(0)})
    assert (request.session_id, request.session_epoch) == (11, 0)
    assert list(request.to_send) == [P0]


def test_2a_8_a_throttled_empty_full_answer_is_ignored() -> None:
    session = FetchSession(1)
    build(session, {P0: at(0)})
    assert not answer(session, throttle_time_ms=100)
    assert repr(session) == "<FetchSession node=1 id=0 epoch=0 partitions=1>"


@pytest.mark.parametrize("answered", [(P0, P1, P2), (P0,), ()], ids=["extra", "missing", "none"])
def test_2a_8_a_full_answer_must_name_exactly_the_session(
    answered: tuple[TopicPartition, ...],
) -> None:
    session = FetchSession(1)
    build(session, {P0: at(0), P1: at(0)})
    assert not answer(session, *answered)
    assert not session.is_open
    assert build(session, {P0: at(0)}).session_epoch == 0


@pytest.mark.parametrize(
    ("answered", "unknown_ids"),
    [((P0, P1), ()), ((), ()), ((P0,), (ID_B,))],
    ids=["extra", "missing", "unknown id"],
)
def test_2a_8_a_mismatch_forgets_a_session_that_was_to_be_replaced(
    answered: tuple[TopicPartition, ...], unknown_ids: tuple[UUID, ...]
) -> None:
    """The next request has no id: the broker is asked for a session of its own."""
    session = opened(P0)
    build(session, {P0: at(0)})
    session.handle_error()
    assert build(session, {P0: at(0)}).session_id == 11
    assert not answer(session, *answered, unknown_topic_ids=unknown_ids)
    request = build(session, {P0: at(0)})
    assert (request.session_id, request.session_epoch) == (0, 0)


def test_2a_8_a_throttled_empty_answer_forgets_a_session_that_was_to_be_replaced(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is no fault of the broker's, and not reported as one."""
    caplog.set_level(logging.INFO)
    session = opened(P0)
    build(session, {P0: at(0)})
    session.handle_error()
    build(session, {P0: at(0)})
    assert not answer(session, throttle_time_ms=100)
    assert (session.session_id, session.epoch) == (0, 0)
    assert "not requested" not in caplog.text


def test_2a_8_an_unknown_topic_id_in_a_full_answer_is_a_fault() -> None:
    session = FetchSession(1)
    build(session, {P0: at(0)})
    assert not answer(session, P0, unknown_topic_ids=[ID_B])
    assert not session.is_open


def test_2a_8_without_a_session_the_data_is_used_all_the_same() -> None:
    session = FetchSession(1)
    build(session, {P0: at(0)})
    assert answer(session, P0, session_id=0)
    assert not session.is_open
    assert build(session, {P0: at(1)}).is_full


def test_2a_9_an_incremental_answer_may_omit_partitions() -> None:
    session = opened(P0, P1)
    build(session, {P0: at(0), P1: at(0)})
    assert answer(session, P1)
    assert session.epoch == 2


@pytest.mark.parametrize("fields", [{"unknown_topic_ids": [ID_B]}, {}])
def test_2a_9_a_stranger_in_an_incremental_answer_ends_the_session(
    fields: dict[str, object],
) -> None:
    session = opened(P0)
    build(session, {P0: at(0)})
    strangers = () if fields else (P3,)
    assert not answer(session, *strangers, **fields)
    request = build(session, {P0: at(0)})
    assert (request.session_id, request.session_epoch) == (11, 0)


def test_2a_9_id_0_says_that_the_broker_closed_the_session_and_the_data_is_used() -> None:
    """Session id 0 means that the broker closed the session; the data is still used (D4)."""
    session = opened(P0)
    build(session, {P0: at(0)})
    assert answer(session, P0, session_id=0)
    assert not session.is_open


def test_2a_10_after_a_lost_answer_the_next_request_closes_and_begins_anew() -> None:
    session = opened(P0)
    build(session, {P0: at(3)})
    session.handle_error()
    request = build(session, {P0: at(3)})
    assert (request.session_id, request.session_epoch) == (11, 0)
    assert dict(request.to_send) == {P0: at(3)}


def test_2a_11_closing_sends_an_empty_full_request_with_the_final_epoch() -> None:
    session = opened(P0)
    closing = session.build_close()
    assert (closing.session_id, closing.session_epoch) == (11, -1)
    assert closing.is_full
    assert not closing.to_send
    assert not session.is_open


# Any history…


class BrokersBook:
    """A broker's side of one session, as KIP-227 has it."""

    def __init__(self) -> None:
        self.session_id = 0
        self.epoch = 0
        self.partitions: dict[TopicPartition, SessionPartition] = {}
        self.sessions_granted = 0

    def receive(self, request: FetchSessionRequest) -> int | None:
        """Return an error code, or None when the request fits."""
        if request.is_full:
            self.sessions_granted += 1
            self.session_id = self.sessions_granted
            self.epoch = 1
            self.partitions = dict(request.to_send)
            return None
        if request.session_id != self.session_id:
            return FetchSessionIdNotFound.errno
        if request.session_epoch != self.epoch:
            return InvalidFetchSessionEpoch.errno
        self.epoch += 1
        for forgotten in (*request.to_forget, *request.to_replace):
            del self.partitions[forgotten.topic_partition]
        self.partitions.update(request.to_send)
        return None


wanted_sets = st.dictionaries(
    st.sampled_from([P0, P1, P2, P3]),
    st.builds(at, st.integers(0, 2), st.sampled_from([ID_A, ID_B, ZERO_UUID]), st.integers(0, 1)),
)
mishaps = st.sampled_from(["none", "none", "none", "request lost", "answer lost", "evicted"])


@given(st.lists(st.tuples(wanted_sets, mishaps), max_size=12))
def test_d2_after_each_request_that_arrives_the_broker_knows_exactly_what_is_wanted(
    history: list[tuple[dict[TopicPartition, SessionPartition], str]],
) -> None:
    session, broker = FetchSession(1), BrokersBook()
    for wanted, mishap in history:
        request = build(session, wanted)
        assert session.partitions == wanted
        if mishap == "request lost":
            session.handle_error()
            continue
        if mishap == "evicted":
            broker.session_id = -1
        error = broker.receive(request)
        if error is None:
            assert broker.partitions == wanted
        if mishap == "answer lost":
            session.handle_error()
            continue
        accepted = answer(
            session,
            *(wanted if request.is_full else ()),
            error_code=error or 0,
            session_id=broker.session_id,
        )
        assert accepted is (error is None)
