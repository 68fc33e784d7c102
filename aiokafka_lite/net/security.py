"""What secures a connection: the TLS contexts, and the steps that authenticate the client.

`cluster/` makes one `Security` from a client's options, and all connections of the client share it.
Does not wait.
"""

from collections.abc import Awaitable, Callable
from dataclasses import field
from ssl import SSLContext
from typing import Final, TypeAlias

from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaProtocolError,
    TlsAuthenticationError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.handshake import AuthenticationSteps
from aiokafka_lite.protocol.versions import NodeApiVersions

Authentication: TypeAlias = Callable[[Endpoint, NodeApiVersions], AuthenticationSteps]
"""Makes the steps of one authentication, with a node at that endpoint that speaks those versions.

It is called once per connection, so it can ask for fresh credentials each time. The steps know no
socket: they can run again on an open connection.
"""


NextTlsContext: TypeAlias = Callable[[], Awaitable[SSLContext]]
"""Gives the TLS context of a new connection. It is called once per connection, so that it can give
another one when a certificate has changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Security:
    """How the connections of one client are secured. The default is Kafka's PLAINTEXT."""

    next_tls_context: NextTlsContext | None = field(default=None, repr=False)
    """Its contexts encrypt connections and check the certificate of the node; None: no TLS."""

    authentication: Authentication | None = field(default=None, repr=False)
    """Proves to the node which user this client is; None: the node asks for no proof."""

    provider: str = "credentials_provider"
    """What gives the credentials, in the words of the options; errors name it."""


PLAINTEXT: Final = Security()

PROVIDER_TIMEOUT_MS: Final = 4_000
"""How long a provider of credentials may take by default: less than `start()` may take until it
fails."""


def authenticate(
    authentication: Authentication, endpoint: Endpoint, versions: NodeApiVersions, *, node: str
) -> AuthenticationSteps:
    """Return the steps of `authentication`. Their errors are turned into errors that name `node`.

    The steps return the lifetime of the session in ms; 0: it does not end. The errors come out of
    `send()` and `throw()` of the generator.
    Raises: AuthenticationFailedError if the node refused, or for any other error of the steps,
    which is its cause; KafkaConnectionError, KafkaProtocolError and TlsAuthenticationError of the
    steps unchanged, since they do not concern the credentials.
    """
    try:
        return (yield from authentication(endpoint, versions))
    except (KafkaConnectionError, KafkaProtocolError, TlsAuthenticationError):
        raise
    except AuthenticationFailedError as error:
        raise AuthenticationFailedError(f"{node}: {reason_of(error)}") from (
            error.__cause__ or error
        )
    except Exception as error:
        raise AuthenticationFailedError(
            f"{node}: the authentication failed: {reason_of(error)}; check the credentials and the"
            " mechanism"
        ) from error


__all__ = [
    "PLAINTEXT",
    "PROVIDER_TIMEOUT_MS",
    "Authentication",
    "NextTlsContext",
    "Security",
    "authenticate",
]
