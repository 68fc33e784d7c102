"""GSSAPI: Kerberos, by MIT's or Heimdal's library through python-gssapi, in a worker thread.

Each step of the library may read files and ask the KDC, which blocks. Only the authentication is
protected (QOP "auth"); use TLS to encrypt. Source: RFC 4752, section 3.1.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import KafkaConfigurationError, KafkaError, SaslAuthenticationFailed
from aiokafka_lite.net.sasl.credentials import ask_provider
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.security import PROVIDER_TIMEOUT_MS

QOP_AUTH: Final = 1
_MOST_BYTES: Final = 65_536


class GssapiMechanism:
    """GSSAPI with the tickets of a cache, or with a keytab.

    The service is `service_name@domain_name`; without `domain_name` it is the host of each node.
    `timeout_ms` bounds each step in the thread. The thread itself cannot be ended: a step that
    hangs keeps it until the Kerberos library gives up.
    """

    name = "GSSAPI"

    def __init__(
        self,
        *,
        service_name: str = "kafka",
        domain_name: str | None = None,
        principal: str | None = None,
        keytab: str | None = None,
        timeout_ms: float = PROVIDER_TIMEOUT_MS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._service_name = service_name
        self._domain_name = domain_name
        self._principal = principal
        self._keytab = keytab
        self._timeout_ms = timeout_ms
        self._clock = clock

    def exchange(self, host: str) -> SaslExchange:
        """Exchange tokens until the context stands, then agree that nothing is encrypted by it."""
        service = f"{self._service_name}@{self._domain_name or host}"
        context = yield self._in_thread(lambda: self._new_context(service), service)
        server_token: bytes | None = None
        while not context.complete:
            token = yield self._in_thread(partial(context.step, server_token), service)
            server_token = yield token or b""
        if server_token is None or len(server_token) > _MOST_BYTES:
            raise SaslAuthenticationFailed("the node sent no message about the protection (QOP)")
        offer = yield self._in_thread(lambda: context.unwrap(server_token).message, service)
        answer = protection_answer(offer)
        wrapped = yield self._in_thread(lambda: context.wrap(answer, False).message, service)
        yield bytes(wrapped)

    async def _in_thread(self, work: Callable[[], Any], service: str) -> Any:
        """Return what `work` returns. Its error becomes one that names the service.

        Raises: KafkaTimeoutError after the timeout; KafkaError for an error of Kerberos.
        """

        def guarded() -> Any:
            try:
                return work()
            except KafkaError:
                raise
            except Exception as error:
                raise KafkaError(f"Kerberos, for the service {service}: {error}") from error

        return await ask_provider(
            lambda: asyncio.to_thread(guarded),
            f"Kerberos, for the service {service},",
            self._timeout_ms,
            self._clock,
        )

    def _new_context(self, service: str) -> Any:
        gssapi = _library()
        name = gssapi.Name(service, name_type=gssapi.NameType.hostbased_service)
        return gssapi.SecurityContext(
            name=name.canonicalize(gssapi.MechType.kerberos),
            mech=gssapi.MechType.kerberos,
            creds=self._new_credentials(gssapi),
            usage="initiate",
        )

    def _new_credentials(self, gssapi: Any) -> Any:
        """Return the client's credentials; None: the first of the ticket cache."""
        if self._principal is None and self._keytab is None:
            return None
        name = None
        if self._principal is not None:
            name = gssapi.Name(self._principal, name_type=gssapi.NameType.kerberos_principal)
        if self._keytab is None:
            return gssapi.Credentials(name=name, usage="initiate")
        # A cache in memory: the tickets of the keytab are not mixed with those of `kinit`.
        store = {"client_keytab": self._keytab, "ccache": f"MEMORY:aiokafka-lite-{id(self)}"}
        return gssapi.Credentials(name=name, usage="initiate", store=store)


def protection_answer(offer: bytes) -> bytes:
    """Return the answer to the node's offer of protections: none, and no authorization identity.

    Raises: SaslAuthenticationFailed if the node insists on one, or sent something else.
    """
    if len(offer) < 4:
        raise SaslAuthenticationFailed(
            f"the node's message about the protection (QOP) has {len(offer)} bytes, not 4"
        )
    if not offer[0] & QOP_AUTH:
        raise SaslAuthenticationFailed(
            "the node insists on encryption by Kerberos (QOP auth-int or auth-conf), which Kafka"
            " does not have; use SASL_SSL"
        )
    return bytes((QOP_AUTH, 0, 0, 0))


def _library() -> Any:
    try:
        return importlib.import_module("gssapi")
    except ImportError as error:
        raise KafkaConfigurationError(
            "sasl_mechanism='GSSAPI' needs python-gssapi: pip install 'aiokafka-lite[gssapi]'"
            f" ({error})"
        ) from error
    except OSError as error:
        raise KafkaConfigurationError(
            f"python-gssapi cannot load the Kerberos library: {error}; install MIT Kerberos"
        ) from error


__all__ = ["QOP_AUTH", "GssapiMechanism", "protection_answer"]
