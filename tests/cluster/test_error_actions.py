"""The table form of actions: listed errors, retriable ones, and all others."""

from enum import Enum

import pytest

from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupLoadInProgressError,
    InvalidGroupIdError,
    NotCoordinatorForGroupError,
    UnknownError,
)


class Do(Enum):
    FIND = 1
    RETRY = 2
    RAISE = 3
    WAIT = 4


TABLE = ErrorActions({NotCoordinatorForGroupError: Do.FIND}, retriable=Do.RETRY, others=Do.RAISE)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (NotCoordinatorForGroupError, Do.FIND),
        (GroupLoadInProgressError, Do.RETRY),
        (InvalidGroupIdError, Do.RAISE),
    ],
)
def test_an_error_has_the_listed_action_or_that_of_its_kind(
    error: type[BrokerResponseError], action: Do
) -> None:
    assert TABLE.action_for(error.errno) == (action, error)


def test_an_unknown_code_has_the_action_of_an_error_that_is_not_retriable() -> None:
    assert TABLE.action_for(9_999) == (Do.RAISE, UnknownError)


def test_a_table_made_from_another_lists_more_and_leaves_that_one_alone() -> None:
    more = TABLE.but_for({GroupLoadInProgressError: Do.WAIT})
    assert more.action_for(GroupLoadInProgressError.errno)[0] is Do.WAIT
    assert more.action_for(NotCoordinatorForGroupError.errno)[0] is Do.FIND
    assert more.action_for(InvalidGroupIdError.errno)[0] is Do.RAISE
    assert TABLE.action_for(GroupLoadInProgressError.errno)[0] is Do.RETRY
