"""The states of a connection and the transitions between them. Does not wait."""

from enum import Enum
from types import MappingProxyType
from typing import Final

from aiokafka_lite.errors import IllegalStateError


class ConnectionState(Enum):
    """The states of a connection, from new to closed. None comes twice."""

    NEW = "new"  # nothing was tried yet
    CONNECTING = "connecting"  # an address is being tried: TCP, then the handshake
    READY = "ready"  # requests are taken
    CLOSED = "closed"  # for good; a new connection is a new object


class ConnectionEvent(Enum):
    """The events that change the state of a connection."""

    OPEN = "open"
    HANDSHAKE_DONE = "finish the handshake"
    CLOSE = "close"


TRANSITIONS: Final = MappingProxyType(
    {
        (ConnectionState.NEW, ConnectionEvent.OPEN): ConnectionState.CONNECTING,
        (ConnectionState.NEW, ConnectionEvent.CLOSE): ConnectionState.CLOSED,
        (ConnectionState.CONNECTING, ConnectionEvent.HANDSHAKE_DONE): ConnectionState.READY,
        (ConnectionState.CONNECTING, ConnectionEvent.CLOSE): ConnectionState.CLOSED,
        (ConnectionState.READY, ConnectionEvent.CLOSE): ConnectionState.CLOSED,
        (ConnectionState.CLOSED, ConnectionEvent.CLOSE): ConnectionState.CLOSED,
    }
)


def after(state: ConnectionState, event: ConnectionEvent) -> ConnectionState:
    """Return the state after an event.

    Raises: IllegalStateError, which names both, for an event that the state does not allow.
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise IllegalStateError(f"cannot {event.value} while {state.name}") from None


__all__ = ["ConnectionEvent", "ConnectionState", "after"]
