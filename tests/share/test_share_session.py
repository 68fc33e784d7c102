"""A session says which partitions come and go, and counts its requests."""

from uuid import UUID

from aiokafka_lite.share.share_session import ShareSession

A, B = (UUID(int=1), 0), (UUID(int=2), 0)


def test_the_first_request_opens_a_session_with_all_partitions() -> None:
    session = ShareSession()
    assert not session.is_open
    assert session.change_to([B, A]) == (0, [A, B], [])
    session.answered()
    assert session.is_open


def test_a_later_request_says_only_what_changes() -> None:
    session = ShareSession()
    session.change_to([A])
    session.answered()
    assert session.change_to([A]) == (1, [], [])
    session.answered()
    assert session.change_to([B]) == (2, [B], [A])


def test_after_the_highest_epoch_comes_the_first() -> None:
    session = ShareSession()
    session.epoch = 2**31 - 1
    session.answered()
    assert session.epoch == 1


def test_a_reset_tells_everything_again() -> None:
    session = ShareSession()
    session.change_to([A])
    session.answered()
    session.reset()
    assert not session.is_open
    assert session.change_to([A]) == (0, [A], [])
