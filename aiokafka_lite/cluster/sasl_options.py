"""The options that authenticate a client: `credentials_provider` and those with `sasl_`.

The mechanisms, and the types of what users give them, are imported when a client uses one.
Does not wait.
"""

from collections.abc import Iterator
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.tls_options import TlsOptions
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.net.security import PROVIDER_TIMEOUT_MS, Authentication
from aiokafka_lite.options.secret_options import hidden
from aiokafka_lite.options.units import IterationCount, Milliseconds
from aiokafka_lite.secret import Secret

if TYPE_CHECKING:
    from aiokafka_lite.net.sasl.credentials import CredentialsProvider, SaslCredentials
    from aiokafka_lite.net.sasl.mechanism import SaslMechanism, SaslMechanismFactory
    from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider

SaslMechanismName = Literal["PLAIN", "GSSAPI", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]

_WITH_SASL: Final = ("SASL_PLAINTEXT", "SASL_SSL")
_WITH_PASSWORD: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_MIN_ITERATIONS: Final = 4_096
PREPARING: Final = 0.9
"""Part of a connection's setup timeout in which a token provider prepares itself, so that its error
comes before that of the connection."""
_MAX_ITERATIONS: Final = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True, init=False, repr=False, eq=False)
class SaslOptions(TlsOptions):
    """How the client proves which user it is."""

    sasl_mechanism: "SaslMechanismName | SaslMechanismFactory" = "PLAIN"
    """How the client authenticates itself: the name of a mechanism, or a function or class that
    makes a `SaslMechanism` for each authentication. The default is aiokafka's. Java:
    sasl.mechanism."""
    sasl_plain_username: str | None = field(default=None, repr=False)
    """User name for PLAIN and SCRAM; the id of a delegation token. Not in Java."""
    sasl_plain_password: str | Secret | None = field(default=None, repr=False)
    """Password for PLAIN and SCRAM; the HMAC of a delegation token. Not in Java."""
    credentials_provider: "CredentialsProvider | None" = field(default=None, repr=False)
    """Gives the user name and password for PLAIN and SCRAM, in place of the two options. It is a
    function that returns `SaslCredentials`, or an awaitable of them. It is called for each
    authentication, so a changed password is used by the next one. Only here."""
    sasl_scram_max_iterations: IterationCount = 16_384
    """Most rounds of hashing that a node may ask for by SCRAM; a higher number costs CPU time. Only
    here."""
    sasl_scram_tokenauth: bool = False
    """Whether user name and password for SCRAM are those of a delegation token (KIP-48). Java has
    it in sasl.jaas.config. Not in Java. Not in aiokafka."""
    sasl_kerberos_service_name: str = "kafka"
    """Name of the brokers' Kerberos service. The default is aiokafka's. Java:
    sasl.kerberos.service.name."""
    sasl_kerberos_domain_name: str | None = None
    """Host part of the brokers' Kerberos service; None: the name by which the client reaches each
    node. Not in Java."""
    sasl_kerberos_principal: str | None = None
    """The client's Kerberos principal; None: that of the ticket cache or keytab. Not in Java. Not
    in aiokafka."""
    sasl_kerberos_keytab: str | None = None
    """Path of a keytab with the client's key. None: the ticket cache of `kinit`. Not in Java. Not
    in aiokafka."""
    sasl_oauth_token_provider: "AbstractTokenProvider | None" = field(default=None, repr=False)
    """Gives the tokens for OAUTHBEARER. Not in Java."""
    sasl_provider_timeout_ms: Milliseconds = PROVIDER_TIMEOUT_MS
    """How long `credentials_provider`, a token provider or Kerberos may take for one
    authentication. Only here."""

    def authentication(
        self, clock: Clock = SYSTEM_CLOCK, *, setup_timeout_ms: float = 10_000
    ) -> Authentication | None:
        """Return what makes the steps of each authentication; None: connections have none.

        `clock` measures `sasl_provider_timeout_ms`. A connection has `setup_timeout_ms` to open.
        """
        if self.security_protocol not in _WITH_SASL:
            return None
        from aiokafka_lite.net.sasl.authentication import SaslAuthentication  # noqa: PLC0415

        return SaslAuthentication(self._sasl_mechanism_factory(clock, setup_timeout_ms))

    @property
    def credentials_source(self) -> str:
        """The option, or the system, that gives the credentials, for errors."""
        if self.sasl_mechanism == "OAUTHBEARER":
            return "sasl_oauth_token_provider"
        if self.sasl_mechanism == "GSSAPI":
            return "Kerberos"
        return "credentials_provider" if isinstance(self.sasl_mechanism, str) else "sasl_mechanism"

    def _sasl_mechanism_factory(
        self, clock: Clock, setup_timeout_ms: float
    ) -> "SaslMechanismFactory":
        mechanism = self.sasl_mechanism
        if not isinstance(mechanism, str):
            return mechanism
        if mechanism == "OAUTHBEARER":
            return partial(self._oauthbearer, clock, PREPARING * setup_timeout_ms)
        if mechanism == "GSSAPI":
            return partial(self._gssapi, clock)
        return partial(self._plain if mechanism == "PLAIN" else self._scram, clock)

    def _plain(self, clock: Clock) -> "SaslMechanism":
        from aiokafka_lite.net.sasl.plain import PlainMechanism  # noqa: PLC0415

        return PlainMechanism(
            self._credentials(), provider_timeout_ms=self.sasl_provider_timeout_ms, clock=clock
        )

    def _scram(self, clock: Clock) -> "SaslMechanism":
        from aiokafka_lite.net.sasl.scram import ScramMechanism  # noqa: PLC0415

        assert self.sasl_mechanism in {"SCRAM-SHA-256", "SCRAM-SHA-512"}
        return ScramMechanism(
            self.sasl_mechanism,
            self._credentials(),
            is_delegation_token=self.sasl_scram_tokenauth,
            max_iterations=self.sasl_scram_max_iterations,
            provider_timeout_ms=self.sasl_provider_timeout_ms,
            clock=clock,
        )

    def _oauthbearer(self, clock: Clock, prepare_timeout_ms: float) -> "SaslMechanism":
        from aiokafka_lite.net.sasl.oauthbearer import OauthBearerMechanism  # noqa: PLC0415

        assert self.sasl_oauth_token_provider is not None  # `_sasl_faults` has checked it
        return OauthBearerMechanism(
            self.sasl_oauth_token_provider,
            provider_timeout_ms=self.sasl_provider_timeout_ms,
            prepare_timeout_ms=prepare_timeout_ms,
            clock=clock,
        )

    def _gssapi(self, clock: Clock) -> "SaslMechanism":
        from aiokafka_lite.net.sasl.gssapi import GssapiMechanism  # noqa: PLC0415

        return GssapiMechanism(
            service_name=self.sasl_kerberos_service_name,
            domain_name=self.sasl_kerberos_domain_name,
            principal=self.sasl_kerberos_principal,
            keytab=self.sasl_kerberos_keytab,
            timeout_ms=self.sasl_provider_timeout_ms,
            clock=clock,
        )

    def _credentials(self) -> "SaslCredentials | CredentialsProvider":
        from aiokafka_lite.net.sasl.credentials import SaslCredentials  # noqa: PLC0415

        if self.credentials_provider is not None:
            return self.credentials_provider
        assert self.sasl_plain_username is not None  # `_sasl_faults` has checked both
        assert self.sasl_plain_password is not None
        return SaslCredentials(self.sasl_plain_username, self.sasl_plain_password)

    def _hide_sasl_secrets(self) -> None:
        """Keep the password as a `Secret` from now on."""
        name = "sasl_plain_password"
        object.__setattr__(self, name, hidden(name, self.sasl_plain_password))

    def _sasl_faults(self) -> Iterator[str]:
        """Yield one sentence per wrong option, in aiokafka's words where it has them. None shows a
        password."""
        if self.security_protocol in _WITH_SASL:
            yield from self._mechanism_faults()
        elif self._is_protocol_forgotten:
            for name, default in _DEFAULTS.items():
                if getattr(self, name) != default:
                    yield (
                        f"{name} has no effect with "
                        f"security_protocol={str(self.security_protocol)!r}, the default;"
                        " set that to 'SASL_SSL' or 'SASL_PLAINTEXT', or leave the option out"
                    )
        yield from _between(
            "sasl_scram_max_iterations", self.sasl_scram_max_iterations, _MIN_ITERATIONS
        )
        yield from _between("sasl_provider_timeout_ms", self.sasl_provider_timeout_ms, 1)

    def _mechanism_faults(self) -> Iterator[str]:
        mechanism: object = self.sasl_mechanism  # a user may pass anything
        if not isinstance(mechanism, str):
            if not callable(mechanism):
                yield (
                    f"sasl_mechanism is of type {type(mechanism).__name__}; set it to a name, or"
                    " to a function that makes a SaslMechanism"
                )
        elif mechanism not in get_args(SaslMechanismName):
            names = ", ".join(f"`{name}`" for name in get_args(SaslMechanismName))
            yield f"sasl_mechanism={quoted(mechanism)} is not known: use one of {names}"
        elif mechanism in _WITH_PASSWORD:
            yield from self._password_faults()
        elif mechanism == "OAUTHBEARER":
            yield from self._token_faults()
        else:
            yield from self._kerberos_faults()

    def _password_faults(self) -> Iterator[str]:
        provider: object = self.credentials_provider
        if provider is not None:
            if (self.sasl_plain_username, self.sasl_plain_password) != (None, None):
                yield (
                    "credentials_provider contradicts sasl_plain_username and sasl_plain_password;"
                    " set only one of them"
                )
            if not callable(provider):
                yield (
                    f"credentials_provider is of type {type(provider).__name__}; set it to a"
                    " function that returns SaslCredentials"
                )
        elif self.sasl_plain_username is None or self.sasl_plain_password is None:
            yield (
                f"sasl_plain_username and sasl_plain_password required for {self.sasl_mechanism}"
                " sasl"
            )
        else:
            try:
                self._credentials()
            except IllegalArgumentError as error:
                yield f"sasl_plain_username, sasl_plain_password: {reason_of(error)}"

    def _token_faults(self) -> Iterator[str]:
        provider: object = self.sasl_oauth_token_provider
        if not callable(getattr(provider, "token", None)):
            yield (
                f"sasl_oauth_token_provider is of type {type(provider).__name__}; OAUTHBEARER needs"
                " an object with `async token()`, such as one derived from AbstractTokenProvider"
            )

    def _kerberos_faults(self) -> Iterator[str]:
        for name in ("service_name", "domain_name", "principal", "keytab"):
            value: object = getattr(self, f"sasl_kerberos_{name}")
            may_be_none = name != "service_name"
            if (value is None and may_be_none) or (isinstance(value, str) and value):
                continue
            yield (
                f"sasl_kerberos_{name}={quoted(value)} is no name; set it to a str "
                "that is not empty"
            )


def _between(name: str, value: object, minimum: int) -> Iterator[str]:
    if not is_int(value):
        yield f"{name}={quoted(value)} is of type {type(value).__name__}; set it to an int"
    elif not minimum <= value <= _MAX_ITERATIONS:
        yield f"{name}={value} is not between {minimum} and {_MAX_ITERATIONS}; set it in between"


_DEFAULTS: Final[dict[str, object]] = {
    "sasl_plain_username": None,
    "sasl_plain_password": None,
    "credentials_provider": None,
    "sasl_oauth_token_provider": None,
    "sasl_kerberos_keytab": None,
}
"""What has no effect without SASL, and may be a sign of a forgotten `security_protocol`."""

__all__ = ["PREPARING", "SaslMechanismName", "SaslOptions"]
