"""Tokens from a file that another program renews, as Kubernetes does with service accounts."""

import asyncio
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.net.sasl.tokens.token_cache import jwt_expiry
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
from aiokafka_lite.secret import Secret

MOST_BYTES: Final = 65_536
"""Size of the largest file that is read."""


class FileTokenProvider(AbstractTokenProvider):
    """Reads the token from a file for each authentication, in a thread.

    In Kubernetes this is a projected volume with a `serviceAccountToken`, which is renewed at 80 %
    of its lifetime.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        extensions: Mapping[str, str] | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """The file has the token alone; spaces and line ends around it are left out."""
        self._path = Path(path)
        self._extensions = dict(extensions or {})
        self._clock = clock

    async def token(self) -> str:
        """Return the content of the file.

        Raises: AuthenticationFailedError if it cannot be read, has no token, or one that has
        expired.
        """
        try:
            token = Secret((await asyncio.to_thread(self._read)).decode("ascii").strip())
        except OSError as error:
            raise self._error(f"cannot be read: {error.strerror}; check the path") from error
        except UnicodeDecodeError:
            raise self._error("has no token: it is not ASCII") from None
        if not token:
            raise self._error("is empty; what renews it has not written it yet")
        expires_s = jwt_expiry(token)
        late_s = 0.0 if expires_s is None else self._clock.time() - expires_s
        if late_s > 0:
            raise self._error(f"has a token that expired {late_s:,.0f} s ago; check what renews it")
        return token.reveal_text()

    def extensions(self) -> Mapping[str, str]:
        """Return the extensions that the constructor got."""
        return self._extensions

    def _read(self) -> bytes:
        with self._path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise self._error(f"has more than {MOST_BYTES} bytes; is it the right file?")
        return content

    def _error(self, what: str) -> AuthenticationFailedError:
        return AuthenticationFailedError(f"the token file {self._path} {what}")


__all__ = ["MOST_BYTES", "FileTokenProvider"]
