"""What gives the tokens for OAUTHBEARER: the class that users and this folder derive from."""

from abc import ABC, abstractmethod
from collections.abc import Mapping


class AbstractTokenProvider(ABC):
    """Gives the token of each authentication by OAUTHBEARER. The names are aiokafka's.

    A client asks at each authentication: for each new connection, and again before a session ends
    (KIP-368). So a provider should keep its token until shortly before its expiry. A call may take
    `sasl_provider_timeout_ms`.
    """

    @abstractmethod
    async def token(self) -> str:
        """Return a token that is valid now, without "Bearer ".

        An error that this raises ends the authentication, and is the cause of its error.
        Cancelled: the client has given up waiting.
        """

    async def prepare(self) -> None:  # noqa: B027  most providers have nothing to prepare
        """Do what comes before the first token, such as the import of a large library.

        Awaited before each call of `token`. It may take 90 % of
        `socket_connection_setup_timeout_ms`.
        """

    def extensions(self) -> Mapping[str, str]:
        """Return what to send beside the token (KIP-342). Called after `token`; does not wait."""
        return {}


__all__ = ["AbstractTokenProvider"]
