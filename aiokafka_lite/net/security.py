"""What secures a connection: the TLS context, and the steps that authenticate the client. Plain.

`cluster/` makes one `Security` from a client's options, and all connections of the client share it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Final, TypeAlias

from aiokafka_lite.errors import AuthenticationFailedError, KafkaConnectionError, KafkaProtocolError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.handshake import AuthenticationSteps
from aiokafka_lite.protocol.versions import NodeApiVersions

Authentication: TypeAlias = Callable[[Endpoint, NodeApiVersions], AuthenticationSteps]
"""Makes the steps of one authentication, with a node at that endpoint that speaks those versions.

It is called once per connection, so it can ask for fresh credentials each time. The steps know no
socket: they can run again on an open connection.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Security:
    """How the connections of one client are secured. The default is Kafka's PLAINTEXT."""

    tls_context: SSLContext | None = None
    """Encrypts the connection and checks the certificate of the node; None: no TLS."""

    authentication: Authentication | None = field(default=None, repr=False)
    """Proves to the node which user this client is; None: the node asks for no proof."""


PLAINTEXT: Final = Security()


def authenticate(
    authentication: Authentication, endpoint: Endpoint, versions: NodeApiVersions, *, node: str
) -> AuthenticationSteps:
    """Return the steps of `authentication`. Their errors are turned into errors that name `node`.

    Raises, out of `send()` and `throw()`:
        AuthenticationFailedError: the node refused, or the steps raised anything else. The error
            they raised is the cause.
        KafkaConnectionError, KafkaProtocolError: unchanged; they do not concern the credentials.
    """
    try:
        yield from authentication(endpoint, versions)
    except (KafkaConnectionError, KafkaProtocolError):
        raise
    except Exception as error:
        raise AuthenticationFailedError(
            f"{node}: the authentication failed: {reason_of(error)}; check the credentials and the"
            " mechanism"
        ) from error


__all__ = ["PLAINTEXT", "Authentication", "Security", "authenticate"]
