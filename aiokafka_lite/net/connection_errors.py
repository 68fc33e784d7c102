"""Turns errors of the event loop and of the system into a KafkaError that names the peer. Does not
wait.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLError

from aiokafka_lite.errors import KafkaConnectionError, KafkaError, NameResolutionError


@contextmanager
def connection_errors(peer: str, timeout_s: float | None = None) -> Iterator[None]:
    """Turn other errors of the block into KafkaError, which names `peer`, and after a timeout
    `timeout_s`."""
    try:
        yield
    except KafkaError:
        raise
    except (
        OSError,
        RuntimeError,
        UnicodeError,  # a host name that IDNA cannot encode
        OverflowError,  # a number that is not a port
    ) as error:
        raise connection_error(error, peer, timeout_s) from error


def connection_error(error: Exception, peer: str, timeout_s: float | None = None) -> KafkaError:
    """Return the KafkaConnectionError for `error`, with `error` as its cause.

    A certificate that the node refused is a TlsAuthenticationError.
    """
    if isinstance(error, SSLError):
        from aiokafka_lite.net.tls.tls_failures import later_error  # noqa: PLC0415 - TLS alone

        return later_error(error, peer)
    kind = NameResolutionError if isinstance(error, socket.gaierror) else KafkaConnectionError
    translated = kind(f"{peer} {_what_happened(error, timeout_s)}")
    translated.__cause__ = error
    return translated


def _what_happened(error: Exception, timeout_s: float | None) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refused the connection; does a broker listen there?"
    if isinstance(error, TimeoutError):
        within = "in time" if timeout_s is None else f"within {timeout_s * 1000:,.0f} ms"
        return f"did not answer {within}"
    if isinstance(error, ConnectionError):
        return f"broke the connection ({error})"
    if isinstance(error, socket.gaierror):
        return f"cannot be resolved to an address ({error.strerror})"
    if isinstance(error, UnicodeError):
        return f"is no valid host name ({error})"
    if isinstance(error, OverflowError):
        return f"is no valid address ({error})"
    return f"cannot be used ({type(error).__name__}: {error})"


__all__ = ["connection_error", "connection_errors"]
