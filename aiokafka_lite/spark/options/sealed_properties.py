"""Java's security properties on their way to executors.

Spark pickles readers and writers, and sends the bytes to executors. The values are sealed in these
bytes, so that no password can be read in logs, dumps and event files. Sealing does not stop a
program that unpickles them: as with Spark's own connector, encrypt the traffic of the cluster
(`spark.network.crypto.enabled`). Does not wait.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from aiokafka_lite.secret import Secret
from aiokafka_lite.spark.options.local_files import local_file

SECURITY: Final = "security_properties"
"""Stands in a client's arguments for the options that `SealedProperties` becomes."""
_SCRAM: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
_WITHOUT_USER: Final = frozenset(
    {
        *("security.protocol", "ssl.truststore.location", "ssl.truststore.password"),
        *("ssl.truststore.type", "ssl.truststore.certificates", "ssl.cipher.suites"),
        *("ssl.protocol", "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm"),
    }
)
"""Properties that say nothing of the user."""
_NONCE_BYTES: Final = 16
_SALT: Final = secrets.token_bytes(_NONCE_BYTES)


class SealedProperties:
    """Security properties that are pickled without a readable value."""

    __slots__ = ("_properties",)

    def __init__(self, properties: Mapping[str, Secret]) -> None:
        self._properties = dict(properties)

    def client_options(self) -> dict[str, Any]:
        """Return the options of a client. It reads the files that the properties name.

        Raises: KafkaConfigurationError with all faults; a missing file is one.
        """
        from aiokafka_lite.java_config.security_properties import client_options  # noqa: PLC0415

        return client_options(self._properties, local_file)

    def for_token(self, token_id: str, hmac: Secret, mechanism: str) -> "SealedProperties":
        """Return the properties of a client that logs in by a delegation token instead.

        What names the brokers' authority and TLS stays. The user's password, key and keytab go.
        """
        name, password = _quoted(token_id), _quoted(hmac.reveal_text())
        jaas = f"{_SCRAM} required username={name} password={password} tokenauth=true;"
        kept = {each: self._properties[each] for each in _WITHOUT_USER & self._properties.keys()}
        log_in = {"sasl.mechanism": Secret(mechanism), "sasl.jaas.config": Secret(jaas)}
        return SealedProperties({**kept, **log_in})

    def text(self, name: str) -> str | None:
        """Return a property that is no secret; None if it is absent."""
        found = self._properties.get(name)
        return None if found is None else found.reveal_text().strip()

    @property
    def fingerprint(self) -> str:
        """A text that differs if a value does, and that reveals none. It is of this process."""
        return hashlib.blake2b(_packed(self._properties), key=_SALT).hexdigest()

    def __repr__(self) -> str:
        return f"SealedProperties({', '.join(sorted(self._properties))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SealedProperties):
            return NotImplemented
        return self._properties == other._properties

    def __hash__(self) -> int:
        return hash(frozenset(self._properties.items()))

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _unsealed, (nonce + _masked(_packed(self._properties), nonce),)


class SealedOptions(dict[str, str]):
    """All options of a query, as Spark gives them; pickled and shown without a readable value."""

    def __repr__(self) -> str:
        return f"SealedOptions({', '.join(sorted(self))})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: Secret(value) for name, value in self.items()}
        return _options, (SealedProperties(values),)


def client_arguments(arguments: Mapping[str, object]) -> dict[str, Any]:
    """Return a client's arguments with the security options in place of the properties.

    Raises: as `SealedProperties.client_options`.
    """
    found = dict(arguments)
    sealed = found.pop(SECURITY, None)
    if isinstance(sealed, SealedProperties):
        found.update(sealed.client_options())
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _packed(properties: Mapping[str, Secret]) -> bytes:
    values = {name: value.reveal_text() for name, value in sorted(properties.items())}
    return json.dumps(values).encode()


def _unsealed(sealed: bytes) -> SealedProperties:
    nonce, masked = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    values: dict[str, str] = json.loads(_masked(masked, nonce))
    return SealedProperties({name: Secret(value) for name, value in values.items()})


def _options(sealed: SealedProperties) -> SealedOptions:
    values = sealed._properties.items()
    return SealedOptions({name: value.reveal_text() for name, value in values})


def _masked(content: bytes, nonce: bytes) -> bytes:
    mask = hashlib.shake_256(nonce).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, mask, strict=True))


__all__ = ["SECURITY", "SealedOptions", "SealedProperties", "client_arguments"]
