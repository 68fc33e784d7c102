"""A secured broker for Spark: Java's names of the options, and stores made by Java's keytool."""

import subprocess
from pathlib import Path
from typing import Any

from aiokafka_lite.testing.broker import EmbeddedBroker

STORE_PASSWORD = "store-Pa55"
_MODULE = "org.apache.kafka.common.security"


def jaas(mechanism: str, user: str, password: str, more: str = "") -> str:
    """The text of kafka.sasl.jaas.config."""
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return f'{_MODULE}.{module} required username="{user}" password="{password}"{more};'


def sasl_ssl(
    trust: Path, password: str, *, mechanism: str = "PLAIN", user: str = "alice", more: str = ""
) -> dict[str, Any]:
    """The options of a user; `trust` is a PEM file, or a store of `make_trust_store`."""
    options = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": mechanism,
        "kafka.sasl.jaas.config": jaas(mechanism, user, password, more),
        "kafka.ssl.truststore.location": str(trust),
    }
    if trust.suffix == ".jks":
        options["kafka.ssl.truststore.password"] = STORE_PASSWORD
    return options


def make_trust_pem(broker: EmbeddedBroker, folder: Path) -> Path:
    """A PEM file with the certificate of the broker's authority."""
    path = folder / "ca.pem"
    assert broker.ca_pem is not None
    path.write_text(broker.ca_pem)
    return path


def make_trust_store(broker: EmbeddedBroker, folder: Path) -> Path:
    """A JKS store with the certificate of the broker's authority, made by keytool."""
    store = folder / "trust.jks"
    subprocess.run(
        [
            *("keytool", "-importcert", "-noprompt", "-alias", "ca"),
            *("-file", str(make_trust_pem(broker, folder)), "-keystore", str(store)),
            *("-storetype", "JKS", "-storepass", STORE_PASSWORD),
        ],
        check=True,
        capture_output=True,
    )
    return store
