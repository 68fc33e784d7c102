"""The lines of server.properties for listeners with TLS and SASL on a real Kafka. Does not wait.

A secured cluster keeps its PLAINTEXT listener, for its own nodes and for the set-up of tests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from aiokafka_lite.errors import KafkaConfigurationError

ListenerProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
ClientAuth = Literal["none", "requested", "required"]
PLAINTEXT: Final = "PLAINTEXT"
MUTUAL_TLS: Final = "MUTUAL_TLS"
"""Name of the listener that requires a certificate of each client."""
TOKEN_SECRET: Final = "delegation-tokens-of-tests"  # noqa: S105 - for clusters of tests only

_SECURITY = "org.apache.kafka.common.security"
SCRAM_MECHANISMS: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS: Final = ("PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER")
"""The mechanisms a cluster offers by itself. GSSAPI needs a key distribution centre: a test gives
it in a `SecureListener` of its own.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SecureListener:
    """One listener of every node."""

    name: str
    protocol: ListenerProtocol
    mechanisms: Mapping[str, str] = field(default_factory=dict)
    """SASL mechanisms, each with its JAAS line (`sasl.jaas.config`)."""
    client_auth: ClientAuth = "none"
    """Whether a client shows a certificate. Java: ssl.client.auth."""
    connections_max_reauth_ms: int = 0
    """How long a session lives before its client authenticates again; 0: for ever (KIP-368)."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Further properties, without `listener.name.NAME.` before them."""

    def settings(self, keystore: str) -> dict[str, str]:
        """Return the lines of this listener. `keystore` is the path of the node's certificate."""
        lines: dict[str, str] = {}
        if self.protocol.endswith("SSL"):
            lines |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": keystore,
                "ssl.client.auth": self.client_auth,
            }
        if self.mechanisms:
            lines["sasl.enabled.mechanisms"] = ",".join(self.mechanisms)
        for mechanism, jaas in self.mechanisms.items():
            lines[f"{mechanism.lower()}.sasl.jaas.config"] = jaas
            lifetime = str(self.connections_max_reauth_ms)
            lines[f"{mechanism.lower()}.connections.max.reauth.ms"] = lifetime
        lines |= self.properties
        return {f"listener.name.{self.name.lower()}.{key}": lines[key] for key in lines}


def standard_listeners(
    users: Mapping[str, str], mechanisms: Sequence[str], connections_max_reauth_ms: int
) -> list[SecureListener]:
    """Return one listener for each protocol, and `MUTUAL_TLS`.

    Raises: KafkaConfigurationError for a mechanism that needs more than users.
    """
    unknown = [name for name in mechanisms if name not in MECHANISMS]
    if unknown:
        raise KafkaConfigurationError(
            f"mechanisms={unknown} are not offered by every Kafka of the tests; use some of "
            f"{', '.join(MECHANISMS)}, or give a SecureListener with the mechanism's JAAS line"
        )
    jaas = {name: _jaas(name, users) for name in mechanisms}
    listeners = [
        SecureListener(name="SSL", protocol="SSL", client_auth="requested"),
        SecureListener(name=MUTUAL_TLS, protocol="SSL", client_auth="required"),
    ]
    if jaas:
        protocols: tuple[ListenerProtocol, ...] = ("SASL_PLAINTEXT", "SASL_SSL")
        listeners += [
            SecureListener(
                name=protocol,
                protocol=protocol,
                mechanisms=jaas,
                connections_max_reauth_ms=connections_max_reauth_ms,
            )
            for protocol in protocols
        ]
    return listeners


def security_settings(
    listeners: Sequence[SecureListener], keystore: str, truststore: str
) -> dict[str, str]:
    """Return the lines of all `listeners`, except their addresses."""
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
        + "".join(f",{listener.name}:{listener.protocol}" for listener in listeners),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": truststore,
        "delegation.token.secret.key": TOKEN_SECRET,
        "sasl.kerberos.service.name": "kafka",
    }
    for listener in listeners:
        settings |= listener.settings(keystore)
    return {key: property_text(value) for key, value in settings.items()}


def listener_addresses(ports: Mapping[str, int], controller_port: int | None) -> dict[str, str]:
    """Return the lines with the addresses of one node's listeners; `ports` has PLAINTEXT, too.
    `controller_port`: None for a broker with ZooKeeper.

    All of them listen on 127.0.0.1. A secure one is announced as localhost, because the service of
    Kerberos has this name.
    """
    listening = [f"{name}://127.0.0.1:{port}" for name, port in ports.items()]
    if controller_port is not None:
        listening.append(f"CONTROLLER://127.0.0.1:{controller_port}")
    announced = [
        f"{name}://{'127.0.0.1' if name == PLAINTEXT else 'localhost'}:{port}"
        for name, port in ports.items()
    ]
    return {
        "listeners": ",".join(listening),
        "advertised.listeners": ",".join(announced),
    }


def authorizer_settings(super_users: Iterable[str]) -> dict[str, str]:
    """Return the lines of a cluster with access rules; ANONYMOUS is a super user, too.

    A user's name stands for `User:NAME`.
    """
    users = [user if ":" in user else f"User:{user}" for user in super_users]
    return {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": property_text(";".join(["User:ANONYMOUS", *users])),
    }


def scram_arguments(users: Mapping[str, str], listeners: Iterable[SecureListener]) -> list[str]:
    """Return the arguments of `StorageTool format` that store the users of SCRAM."""
    used = {name for listener in listeners for name in listener.mechanisms}
    arguments = []
    for mechanism in SCRAM_MECHANISMS:
        if mechanism in used:
            for user, password in users.items():
                value = f'{mechanism}=[name="{user}",password="{password}"]'
                arguments += ["--add-scram", value]
    return arguments


def property_text(value: str) -> str:
    """Return `value` as a file of properties says it: in ASCII, with backslashes doubled."""
    units = value.encode("utf-16-be")
    codes = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    return "".join(map(_property_char, codes))


def _property_char(code: int) -> str:
    if code == ord("\\"):
        return "\\\\"
    return chr(code) if 0x20 <= code < 0x7F else f"\\u{code:04x}"


def _jaas(mechanism: str, users: Mapping[str, str]) -> str:
    """Return the JAAS line of a broker's listener."""
    if mechanism == "PLAIN":
        entries = " ".join(f"user_{user}={_quoted(users[user])}" for user in users)
        return f"{_SECURITY}.plain.PlainLoginModule required {entries};"
    if mechanism in SCRAM_MECHANISMS:
        return f"{_SECURITY}.scram.ScramLoginModule required;"
    return f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule required;"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


__all__ = [
    "MECHANISMS",
    "MUTUAL_TLS",
    "PLAINTEXT",
    "SCRAM_MECHANISMS",
    "ListenerProtocol",
    "SecureListener",
    "authorizer_settings",
    "listener_addresses",
    "property_text",
    "scram_arguments",
    "security_settings",
    "standard_listeners",
]
