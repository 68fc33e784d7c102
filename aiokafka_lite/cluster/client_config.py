"""Owns the options every client has in common, their defaults and their limits.

It checks all of them at construction and reports every fault in one error. It does not wait, and it
does not resolve or contact any address.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.errors import FeatureNotSupportedError, KafkaConfigurationError
from aiokafka_lite.net.endpoint import Endpoint, parse_bootstrap
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.sendable_text import sendable
from aiokafka_lite.value_checks import is_int, text_of_faults
from aiokafka_lite.version import __version__

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SASL_MECHANISMS = ("PLAIN", "GSSAPI", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_WITHOUT_SECURITY = "until then only a broker's PLAINTEXT listener can be used"
METADATA_RECOVERY_STRATEGIES = ("rebootstrap", "none")
_INT32_MAX = 2**31 - 1


class DefaultInt(int):
    """An int nobody asked for. Lets a config tell an option's default from the same number set by
    the user, without making the option's type anything else than `int`.
    """

    __slots__ = ()


def at_least(name: str, value: object, minimum: int, maximum: int = _INT32_MAX) -> Iterator[str]:
    """Yield the fault of `value` unless it is an int in `[minimum, maximum]`.

    For use as `yield from at_least("linger_ms", self.linger_ms, 0)` in a config's `_faults`.
    """
    if not is_int(value):
        yield (
            f"{name}={value!r} is of type {type(value).__name__}; "
            f"set it to an int of at least {minimum}"
        )
    elif value < minimum:
        yield f"{name}={value} is below its minimum of {minimum}; set it to {minimum} or more"
    elif value > maximum:
        yield f"{name}={value} is above its maximum of {maximum}; set it to {maximum} or less"


def one_of(name: str, value: object, allowed: Sequence[object]) -> Iterator[str]:
    """Yield the fault of `value` unless it is one of `allowed`."""
    if value not in allowed:
        names = ", ".join(repr(choice) for choice in allowed)
        yield f"{name}={value!r} is not known; set it to one of {names}"


def not_above(name: str, value: int, limit_name: str, limit: int) -> Iterator[str]:
    """Yield the fault of two options that contradict each other: `value` above `limit`."""
    if _both_ints(value, limit) and value > limit:
        yield (f"{name}={value} exceeds {limit_name}={limit}; lower {name} or raise {limit_name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientConfig:
    """The options of every client; names are aiokafka's, defaults are Java 4's.

    A subclass adds fields and overrides `_faults` and `_unsupported`, starting with
    `yield from ClientConfig._faults(self)` (a dataclass with slots is a new class, so the short
    `super()` does not work in it).

    Raises: `KafkaConfigurationError` (also a `ValueError`) naming each wrong option, its value, the
    limit and the remedy; `FeatureNotSupportedError`, a kind of it, when an option belongs to a
    feature of a later version. Nothing is accepted and ignored.
    """

    bootstrap_servers: str | Sequence[str] = "localhost"
    client_id: str = ""
    """Sent with each request, shown in the broker's logs and quotas. "" is filled at
    construction.
    """

    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    metadata_max_age_ms: int = 300_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = DefaultInt(1000)
    reconnect_backoff_ms: int = DefaultInt(50)
    reconnect_backoff_max_ms: int = DefaultInt(1000)
    """Not set while `reconnect_backoff_ms` is: follows it, so that the backoff is constant."""

    socket_connection_setup_timeout_ms: int = 10_000
    socket_connection_setup_timeout_max_ms: int = DefaultInt(30_000)
    connections_max_idle_ms: int | None = 540_000
    """A connection unused for that long is closed. None: never."""

    send_buffer_bytes: int = -1
    """SO_SNDBUF; -1 lets the system size it, which does so by what the connection carries."""

    receive_buffer_bytes: int = -1
    """SO_RCVBUF; -1 lets the system size it. A set one stays, and bounds a connection to that many
    bytes in each round trip."""

    metadata_recovery_strategy: str = "rebootstrap"
    """What to do when no known broker answers: ask `bootstrap_servers` again (KIP-899), or
    "none".
    """

    metadata_recovery_rebootstrap_trigger_ms: int = 300_000
    """Re-bootstrap also when no refresh succeeded for that long (KIP-1102)."""

    metadata_cluster_check_enable: bool = True
    """Tell brokers from 4.4 on which node of which cluster a connection is meant for, and
    re-bootstrap when another one answers (KIP-1242). Only with recovery by "rebootstrap".
    """

    security_protocol: str = "PLAINTEXT"
    ssl_context: Any = field(default=None, repr=False)  # refused below; its type comes with TLS
    sasl_mechanism: str = "PLAIN"
    sasl_plain_username: str | None = field(default=None, repr=False)
    sasl_plain_password: str | None = field(default=None, repr=False)
    sasl_kerberos_service_name: str = "kafka"
    sasl_kerberos_domain_name: str | None = None
    sasl_oauth_token_provider: Any = field(default=None, repr=False)  # refused below

    def __post_init__(self) -> None:
        unsupported = list(self._unsupported())
        faults = unsupported + list(self._faults())
        if unsupported:
            raise FeatureNotSupportedError(text_of_faults(type(self).__name__, faults))
        if faults:
            raise KafkaConfigurationError(text_of_faults(type(self).__name__, faults))
        self._settle_defaults()

    @property
    def endpoints(self) -> list[Endpoint]:
        """Where to bootstrap: one entry per seed, in the user's order. Parsed at each call."""
        return parse_bootstrap(self.bootstrap_servers)

    def max_answer_bytes(self, lane: Lane) -> int:  # noqa: ARG002 - a consumer's differ by lane
        """Return how large an answer may be on the connections of that lane."""
        return MAX_FRAME_BYTES

    def _default_client_id(self) -> str:
        """Return what `client_id` becomes when the user gave none."""
        return f"aiokafka-lite-{__version__}"

    def _faults(self) -> Iterator[str]:
        """Yield one sentence per wrong option: name, value, limit, remedy."""
        try:
            self.endpoints  # noqa: B018 - parsing is the check
        except KafkaConfigurationError as error:
            yield str(error.args[0])  # without the class name: it becomes one fault among others
        client_id: object = self.client_id  # typed as str, but nobody checks the user
        if not isinstance(client_id, str | None):
            yield f"client_id={client_id!r} is of type {type(client_id).__name__}; set it to a str"
        yield from sendable("client_id", client_id)
        yield from at_least("request_timeout_ms", self.request_timeout_ms, 1)
        yield from at_least("default_api_timeout_ms", self.default_api_timeout_ms, 1)
        yield from at_least("metadata_max_age_ms", self.metadata_max_age_ms, 0)
        yield from self._backoff_faults()
        if self.connections_max_idle_ms is not None:
            yield from at_least("connections_max_idle_ms", self.connections_max_idle_ms, 1)
        yield from at_least("send_buffer_bytes", self.send_buffer_bytes, -1)
        yield from at_least("receive_buffer_bytes", self.receive_buffer_bytes, -1)
        yield from one_of(
            "metadata_recovery_strategy",
            self.metadata_recovery_strategy,
            METADATA_RECOVERY_STRATEGIES,
        )
        yield from at_least(
            "metadata_recovery_rebootstrap_trigger_ms",
            self.metadata_recovery_rebootstrap_trigger_ms,
            0,
        )
        yield from one_of(
            "metadata_cluster_check_enable", self.metadata_cluster_check_enable, (True, False)
        )
        if self.security_protocol not in SECURITY_PROTOCOLS:
            yield (
                f"security_protocol={self.security_protocol!r}: `security_protocol` should be SSL "
                f"or PLAINTEXT; set it to one of {', '.join(map(repr, SECURITY_PROTOCOLS))}"
            )
        yield from self._security_faults()

    def _security_faults(self) -> Iterator[str]:
        """In the words that users of aiokafka know."""
        protocol = self.security_protocol
        if protocol in ("SSL", "SASL_SSL") and self.ssl_context is None:
            yield "`ssl_context` is mandatory if security_protocol=='SSL'"
        if protocol in ("SASL_PLAINTEXT", "SASL_SSL"):
            if self.sasl_mechanism not in SASL_MECHANISMS:
                names = ", ".join(f"`{name}`" for name in SASL_MECHANISMS)
                yield f"sasl_mechanism={self.sasl_mechanism!r} is not known: use one of {names}"
            elif self.sasl_mechanism == "PLAIN" and (
                self.sasl_plain_username is None or self.sasl_plain_password is None
            ):
                yield "sasl_plain_username and sasl_plain_password required for PLAIN sasl"

    def _backoff_faults(self) -> Iterator[str]:
        for name, max_name, minimum in _RANGES:
            value, maximum = getattr(self, name), getattr(self, max_name)
            yield from at_least(name, value, minimum)
            yield from at_least(max_name, maximum, minimum)
            if not isinstance(maximum, DefaultInt):  # an unset maximum follows, see below
                yield from not_above(name, value, max_name, maximum)

    def _unsupported(self) -> Iterator[str]:
        """Yield one sentence per option whose feature comes with a later version."""
        if self.security_protocol in SECURITY_PROTOCOLS and self.security_protocol != "PLAINTEXT":
            yield later("security_protocol", self.security_protocol, _WITHOUT_SECURITY)
        for name, default in _LATER_OPTIONS.items():
            if getattr(self, name) != default:
                # The value may be a secret: it is not shown.
                yield later(name, None, _WITHOUT_SECURITY)

    def _settle_defaults(self) -> None:
        if not self.client_id:
            object.__setattr__(self, "client_id", self._default_client_id())
        if isinstance(self.reconnect_backoff_max_ms, DefaultInt) and not isinstance(
            self.reconnect_backoff_ms, DefaultInt
        ):
            follows = DefaultInt(self.reconnect_backoff_ms)
            object.__setattr__(self, "reconnect_backoff_max_ms", follows)
        for name, max_name, _ in _RANGES:
            if getattr(self, max_name) < getattr(self, name):
                object.__setattr__(self, max_name, DefaultInt(getattr(self, name)))


def later(name: str, value: object, remedy: str) -> str:
    """Return the sentence for an option whose feature comes with a later version."""
    option = name if value is None else f"{name}={value!r}"
    return (
        f"{option} is not supported by aiokafka-lite {__version__}: "
        f"it comes with a later version; {remedy}"
    )


_RANGES = (
    ("retry_backoff_ms", "retry_backoff_max_ms", 0),
    ("reconnect_backoff_ms", "reconnect_backoff_max_ms", 0),
    ("socket_connection_setup_timeout_ms", "socket_connection_setup_timeout_max_ms", 1),
)

_LATER_OPTIONS = {
    "ssl_context": None,
    "sasl_mechanism": "PLAIN",
    "sasl_plain_username": None,
    "sasl_plain_password": None,
    "sasl_kerberos_service_name": "kafka",
    "sasl_kerberos_domain_name": None,
    "sasl_oauth_token_provider": None,
}


def _both_ints(first: object, second: object) -> bool:
    return isinstance(first, int) and isinstance(second, int)


__all__ = ["ClientConfig", "DefaultInt", "at_least", "later", "not_above", "one_of"]
