"""Asks one address whether a Kafka broker serves there, without a client.

Blocks for a second at most.
"""

import socket
import struct

PROBE_TIMEOUT_S = 1.0
# Metadata v1 for no topic, correlation id 1, client id "": the whole frame. The response starts
# with the correlation id and the number of brokers. It comes only when the broker serves requests.
METADATA_REQUEST = struct.pack(">ihhihi", 14, 3, 1, 1, 0, 0)


def known_brokers(host: str, port: int) -> int:
    """Return how many brokers the one at `host:port` knows in its cluster, including itself.

    0 while it does not serve.
    """
    try:
        with socket.create_connection((host, port), timeout=PROBE_TIMEOUT_S) as connection:
            connection.sendall(METADATA_REQUEST)
            answer = connection.recv(12)
    except OSError:
        return 0
    return int.from_bytes(answer[8:12]) if len(answer) == 12 else 0


__all__ = ["known_brokers"]
