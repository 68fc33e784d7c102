"""Fetches the certificate of a node that was not accepted, for the text of the error.

Python does not give a certificate that it refuses. So a second connection accepts any, looks at the
certificate and closes. It proves nothing, sends nothing and shows no certificate of the client.
"""

import asyncio
import ssl
from typing import cast

from aiokafka_lite.net.endpoint import Address
from aiokafka_lite.net.tls.certificate_facts import CertificateFacts, certificate_facts
from aiokafka_lite.net.tls.tls_name import tls_name


class _Peer(asyncio.Protocol):
    """The second connection, once its handshake has ended."""

    transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)


async def peer_certificate(address: Address, host: str) -> CertificateFacts | None:
    """Return what the certificate of the node at `address` says; None if it cannot be had.

    Waits without a timeout of its own. Cancelled: the connection is closed.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    peer = _Peer()
    try:
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: peer,
            *address.sockaddr[:2],
            family=address.family,
            ssl=context,
            server_hostname=tls_name(host),
        )
        found = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return None if found is None else certificate_facts(found)
    except (OSError, ValueError):
        return None
    finally:
        # Also if this was cancelled as the handshake ended. The loop would wait for the goodbye.
        if peer.transport is not None:
            peer.transport.abort()


__all__ = ["peer_certificate"]
