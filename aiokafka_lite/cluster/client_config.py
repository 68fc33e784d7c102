"""The options that all clients have in common, with their defaults and limits.

The constructor checks all options and reports every fault in one error. It resolves and contacts no
address. Does not wait.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.checks.value_checks import is_int, text_of_faults, whole
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.sasl_options import SaslOptions
from aiokafka_lite.concurrency.coroutine_function import is_plain_function
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass, fields_by_name
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.net.endpoint import Connector, Endpoint, parse_bootstrap
from aiokafka_lite.net.security import Security
from aiokafka_lite.options.units import ByteCount, Milliseconds
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.version import __version__

MetadataRecoveryStrategy = Literal["rebootstrap", "none"]
_INT32_MAX = 2**31 - 1


class DefaultInt(int):
    """The default value of an option, which other options may change. The same number set by the
    user becomes it, too: frameworks hand on the defaults that they know.
    """

    __slots__ = ()


def at_least(name: str, value: object, minimum: int, maximum: int = _INT32_MAX) -> Iterator[str]:
    """Yield the fault of `value` unless it is an int in `[minimum, maximum]`.

    For use as `yield from at_least("linger_ms", self.linger_ms, 0)` in a config's `_faults`.
    """
    if not is_int(value):
        yield (
            f"{name}={quoted(value)} is of type {type(value).__name__}; "
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
        yield f"{name}={quoted(value)} is not known; set it to one of {names}"


def text_or_none(name: str, value: object) -> Iterator[str]:
    """Yield the fault of `value` unless it is None, or a str that a request can carry."""
    if value is not None and not isinstance(value, str):
        yield f"{name}={quoted(value)} is of type {type(value).__name__}; set it to a str or None"
    yield from sendable(name, value)


def not_above(name: str, value: int, limit_name: str, limit: int) -> Iterator[str]:
    """Yield the fault of two options that contradict each other: `value` above `limit`."""
    if _both_ints(value, limit) and value > limit:
        yield (f"{name}={value} exceeds {limit_name}={limit}; lower {name} or raise {limit_name}")


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class ClientConfig(SaslOptions):
    """The options of every client; names are aiokafka's, defaults are Java 4's.

    A field is the one declaration of an option, and `options/` shows it from here. The type names
    the unit. The docstring says what the option does, and ends with its name in Java.

    A subclass adds fields and overrides `_faults`, which begins with `yield from
    ClientConfig._faults(self)`. The short `super()` does not work in a dataclass with slots, which
    is a new class.

    Raises: `KafkaConfigurationError` (also a `ValueError`) naming each wrong option, its value, the
    limit and the remedy. Nothing is accepted and ignored.
    """

    bootstrap_servers: str | Sequence[str] = "localhost"
    """Addresses of brokers to connect to first, "host:port,host:port" or a list of such. The
    default port is 9092. One reachable broker is enough to find the others. The default is
    aiokafka's. Java: bootstrap.servers."""
    client_id: str = ""
    """Name of this client in the brokers' logs and quotas. An empty name, or None, is replaced at
    construction. Java: client.id."""

    bootstrap_timeout_ms: Milliseconds = 0
    """How long a start goes on asking `bootstrap_servers` when none of them answers; 0: each is
    asked once. Only here."""
    bootstrap_resolve_timeout_ms: Milliseconds = 0
    """How long a start goes on asking while DNS knows no address of `bootstrap_servers`; 0: once
    (KIP-909). Java: bootstrap.resolve.timeout.ms. Not in aiokafka."""
    request_timeout_ms: Milliseconds = 30_000
    """How long to wait for the response to a request before the connection counts as dead. Java:
    request.timeout.ms."""
    default_api_timeout_ms: Milliseconds = 60_000
    """How long a call without a timeout of its own may take, with all retries. Java:
    default.api.timeout.ms. Not in aiokafka."""
    metadata_max_age_ms: Milliseconds = 300_000
    """Age at which the client refreshes the cluster's metadata, even without an error. Java:
    metadata.max.age.ms."""
    retry_backoff_ms: Milliseconds = 100
    """Pause before the first retry of a failed request; it doubles with each further one. Java:
    retry.backoff.ms."""
    retry_backoff_max_ms: Milliseconds = DefaultInt(1000)
    """Longest pause between two retries of a request. Java: retry.backoff.max.ms. Not in
    aiokafka."""
    reconnect_backoff_ms: Milliseconds = DefaultInt(50)
    """Pause before the next attempt to connect to a node; it doubles with each further failure.
    Java: reconnect.backoff.ms. Not in aiokafka."""
    reconnect_backoff_max_ms: Milliseconds = DefaultInt(1000)
    """Longest pause between two attempts to connect to a node. If only `reconnect_backoff_ms` is
    set, this one is equal to it. Java: reconnect.backoff.max.ms. Not in aiokafka."""

    socket_connection_setup_timeout_ms: Milliseconds = 10_000
    """How long the first attempt to connect to a node may take; it doubles with each further
    failure. Java: socket.connection.setup.timeout.ms. Not in aiokafka."""
    socket_connection_setup_timeout_max_ms: Milliseconds = DefaultInt(30_000)
    """Longest time that an attempt to connect may take. Java:
    socket.connection.setup.timeout.max.ms. Not in aiokafka."""
    connections_max_idle_ms: Milliseconds | None = 540_000
    """Close a connection that was not used for this long; None: never. Java:
    connections.max.idle.ms."""

    send_buffer_bytes: ByteCount = -1
    """Size of the socket's send buffer (SO_SNDBUF); -1, unlike Java's default, lets the system
    choose. Java: send.buffer.bytes. Not in aiokafka."""
    receive_buffer_bytes: ByteCount = -1
    """Size of the socket's receive buffer (SO_RCVBUF); -1, unlike Java's default, lets the system
    choose. A size set here limits a connection to so many bytes in each round trip. Java:
    receive.buffer.bytes. Not in aiokafka."""

    metadata_recovery_strategy: MetadataRecoveryStrategy = "rebootstrap"
    """What to do when no known broker answers: connect to `bootstrap_servers` again (KIP-899), or
    "none". Java: metadata.recovery.strategy. Not in aiokafka."""
    metadata_recovery_rebootstrap_trigger_ms: Milliseconds = 300_000
    """Connect to `bootstrap_servers` again if no metadata arrived for this long (KIP-1102). Java:
    metadata.recovery.rebootstrap.trigger.ms. Not in aiokafka."""
    metadata_cluster_check_enable: bool = True
    """Tell brokers from 4.4 on which node of which cluster a connection is meant for (KIP-1242). If
    another one answers, connect to `bootstrap_servers` again. Needs
    `metadata_recovery_strategy="rebootstrap"`. Java: metadata.cluster.check.enable. Not in
    aiokafka."""

    max_api_versions: Mapping[str, int] | None = None
    """Highest version of an API by its name, such as {"Fetch": 12}, for brokers and proxies with
    faults in newer ones. None: the newest that both sides know. Only here."""
    connect: Connector | None = None
    """Makes the connections, for proxies and Unix sockets: `async def connect(host, port)` returns
    a connected socket. It is called with each address as `bootstrap_servers` and the brokers name
    it. TLS and authentication follow on that socket. Only here."""

    observer: Observer | None = None
    """Hears what the client does: requests, batches, polls, rebalances, commits and failures. That
    of `aiokafka_lite.observe` exports them as metrics. Java: metric.reporters. Not in aiokafka."""

    enable_metrics_push: bool = True
    """Push metrics of this client to brokers that ask for them (KIP-714). Brokers without a
    ClientTelemetry plugin never do. Java: enable.metrics.push. Not in aiokafka."""

    def __post_init__(self) -> None:
        for name, each in fields_by_name(type(self)).items():
            value = getattr(self, name)
            if isinstance(value, DefaultInt):
                continue
            number = whole(value)
            may_follow = isinstance(each.default, DefaultInt) and name not in _CHOSEN_IF_GIVEN
            if may_follow and is_int(number) and number == each.default:
                number = each.default  # handed on, which is not chosen
            if value is not number:
                object.__setattr__(self, name, number)
        if faults := list(self._faults()):
            raise KafkaConfigurationError(text_of_faults(type(self).__name__, faults))
        self._settle_defaults()

    @property
    def endpoints(self) -> list[Endpoint]:
        """The seeds, in the user's order. They are parsed at each call."""
        return parse_bootstrap(self.bootstrap_servers)

    @property
    def max_version_by_key(self) -> Mapping[int, int]:
        """`max_api_versions` by API key."""
        if not self.max_api_versions:
            return {}
        keys = _api_keys()
        return {keys[name]: version for name, version in self.max_api_versions.items()}

    def max_answer_bytes(self, lane: Lane) -> int:  # noqa: ARG002 - a consumer's differ by lane
        """Return how many bytes a response may have on a connection of that lane."""
        return MAX_FRAME_BYTES

    def security(self, clock: Clock = SYSTEM_CLOCK) -> Security:
        """Return TLS and authentication of all connections. `clock` measures their providers."""
        return Security(
            next_tls_context=self.next_tls_context(),
            authentication=self.authentication(
                clock, setup_timeout_ms=self.socket_connection_setup_timeout_ms
            ),
            provider=self.credentials_source,
        )

    def _default_client_id(self) -> str:
        """Return what `client_id` becomes when the user gave none."""
        return f"aiokafka-lite-{__version__}"

    def _faults(self) -> Iterator[str]:
        """Yield one sentence per wrong option: name, value, limit, remedy."""
        try:
            self.endpoints  # noqa: B018 - parsing is the check
        except KafkaConfigurationError as error:
            yield str(error.args[0])  # without the class name: it becomes one fault among others
        client_id: object = self.client_id  # typed as str, but a user may pass anything
        if not isinstance(client_id, str | None):
            yield (
                f"client_id={quoted(client_id)} is of type "
                f"{type(client_id).__name__}; set it to a str"
            )
        yield from sendable("client_id", client_id)
        yield from at_least("bootstrap_timeout_ms", self.bootstrap_timeout_ms, 0)
        yield from at_least("bootstrap_resolve_timeout_ms", self.bootstrap_resolve_timeout_ms, 0)
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
            get_args(MetadataRecoveryStrategy),
        )
        yield from at_least(
            "metadata_recovery_rebootstrap_trigger_ms",
            self.metadata_recovery_rebootstrap_trigger_ms,
            0,
        )
        yield from one_of(
            "metadata_cluster_check_enable", self.metadata_cluster_check_enable, (True, False)
        )
        yield from _version_faults(self.max_api_versions)
        connect: object = self.connect
        if not callable(connect) and connect is not None:
            yield (
                f"connect={quoted(connect)} is of type {type(connect).__name__}; set it to an "
                f"`async def connect(host, port)` that returns a connected socket"
            )
        elif is_plain_function(connect):
            yield (
                f"connect={quoted(connect)} is a plain function, which cannot be awaited; make it "
                f"an `async def connect(host, port)` that returns a connected socket"
            )
        for name in ("enable_metrics_push", "sasl_scram_tokenauth"):
            yield from one_of(name, getattr(self, name), (True, False))
        observer: object = self.observer
        if not isinstance(observer, Observer | None):
            yield f"observer={quoted(observer)} is no Observer; derive its class from Observer"
        yield from self._tls_faults()
        yield from self._sasl_faults()

    def _backoff_faults(self) -> Iterator[str]:
        for name, max_name, minimum in _RANGES:
            value, maximum = getattr(self, name), getattr(self, max_name)
            yield from at_least(name, value, minimum)
            yield from at_least(max_name, maximum, minimum)
            if not isinstance(maximum, DefaultInt):  # an unset maximum follows, see below
                yield from not_above(name, value, max_name, maximum)

    def _settle_defaults(self) -> None:
        self._hide_tls_secrets()
        self._hide_sasl_secrets()
        self._settle_protocol()
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


def _api_keys() -> dict[str, int]:
    """Return the keys of the APIs that can be limited, by name."""
    from aiokafka_lite.protocol.api_key import ApiKey, api_name  # noqa: PLC0415 - few need it

    return {api_name(key): int(key) for key in ApiKey if key is not ApiKey.API_VERSIONS}


def _version_faults(value: object) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield (
            f"max_api_versions={quoted(value)} is of type {type(value).__name__}; set "
            "it to a dict such "
            f'as {{"Fetch": 12}}'
        )
        return
    for name, version in value.items():
        if name not in _api_keys():
            yield (
                f"max_api_versions: {quoted(name)} is no API whose version can be "
                "limited; use Kafka's "
                f'name for it, such as "Fetch"'
            )
        yield from at_least(f"max_api_versions[{quoted(name)}]", version, 0, 2**15 - 1)


_CHOSEN_IF_GIVEN = ("reconnect_backoff_ms",)  # whose maximum follows also its default (2f-3)
_RANGES = (
    ("retry_backoff_ms", "retry_backoff_max_ms", 0),
    ("reconnect_backoff_ms", "reconnect_backoff_max_ms", 0),
    ("socket_connection_setup_timeout_ms", "socket_connection_setup_timeout_max_ms", 1),
)


def _both_ints(first: object, second: object) -> bool:
    return isinstance(first, int) and isinstance(second, int)


__all__ = [
    "ClientConfig",
    "DefaultInt",
    "MetadataRecoveryStrategy",
    "at_least",
    "not_above",
    "one_of",
    "text_or_none",
]
