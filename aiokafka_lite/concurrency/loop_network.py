"""Finds the network that an event loop has instead of sockets. Does not wait.

Only loops for tests have one, such as `testing/virtual_loop`. Client and broker ask here before
they open a socket.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol


class LoopNetwork(Protocol):
    """What a loop without sockets offers as its attribute `kafka_network`."""

    async def connect(
        self, port: int, factory: Callable[[], asyncio.BaseProtocol], client_id: str
    ) -> None:
        """Connect the protocol that `factory` makes. Raises: OSError."""

    def listen(self, port: int) -> socket.socket:
        """Return what the loop's `create_server` takes as `sock`. Port 0 is any free one.

        Raises: OSError.
        """


def loop_network() -> LoopNetwork | None:
    """Return the network of the running loop; None if it uses sockets, or if no loop runs."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return getattr(loop, "kafka_network", None)


__all__ = ["LoopNetwork", "loop_network"]
