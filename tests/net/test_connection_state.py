"""A connection goes one way only."""

import itertools

import pytest

from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.net.connection_state import TRANSITIONS, ConnectionEvent, ConnectionState, after


def test_the_way_of_a_connection() -> None:
    state = ConnectionState.NEW
    states = [
        state := after(state, event)
        for event in (ConnectionEvent.OPEN, ConnectionEvent.HANDSHAKE_DONE, ConnectionEvent.CLOSE)
    ]
    assert states == [ConnectionState.CONNECTING, ConnectionState.READY, ConnectionState.CLOSED]


def test_closing_is_possible_everywhere() -> None:
    for state in ConnectionState:
        assert after(state, ConnectionEvent.CLOSE) is ConnectionState.CLOSED


def test_an_impossible_event_is_an_error_naming_state_and_event() -> None:
    for state, event in itertools.product(ConnectionState, ConnectionEvent):
        if (state, event) not in TRANSITIONS:
            with pytest.raises(IllegalStateError, match=f"cannot {event.value} while {state.name}"):
                after(state, event)
