"""The limits and the security of a connection. `cluster/` takes both from the client's options."""

from collections.abc import Mapping
from dataclasses import field

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.net.endpoint import Connector
from aiokafka_lite.net.security import PLAINTEXT, Security
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConnectionConfig:
    """Timeouts, limits and security of one connection.

    The buffer sizes are those of the socket; -1 lets the system choose.
    """

    connection_setup_timeout_ms: float = 10_000
    request_timeout_ms: float = 30_000
    max_in_flight: int = 5
    max_queued: int = 1_000
    send_buffer_bytes: int = -1
    receive_buffer_bytes: int = -1
    max_frame_bytes: int = MAX_FRAME_BYTES
    """Size of the largest response that is read. A larger one ends the connection."""

    max_versions: Mapping[int, int] = field(default_factory=dict)
    """The highest version to use of an API, by key."""

    connector: Connector | None = None
    """Makes the socket, in place of this package; None: the system's resolver and TCP."""

    security: Security = PLAINTEXT
    """TLS and authentication; the default is PLAINTEXT."""


__all__ = ["ConnectionConfig"]
