"""Java's key stores, made by Java's own keytool, as PEM that Python's ssl takes."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.key_stores import (
    is_pem_file,
    key_and_chain,
    trusted_certificates,
)
from aiokafka_lite.secret import Secret

PASSWORD = Secret("store-password")
needs_keytool = pytest.mark.skipif(
    shutil.which("keytool") is None, reason="Java's keytool makes the stores, and is not installed"
)


def keytool(*arguments: str) -> None:
    subprocess.run(["keytool", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module", params=["JKS", "PKCS12"])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `key`, a store with one key, and `trust`, which trusts its certificate."""
    folder = tmp_path_factory.mktemp(request.param)
    common = ("-storetype", request.param, "-storepass", PASSWORD.reveal_text(), "-noprompt")
    key, trust, exported = (str(folder / name) for name in ("key", "trust", "certificate"))
    keytool(
        *("-genkeypair", "-alias", "client", "-keyalg", "EC", "-groupname", "secp256r1"),
        *("-ext", "bc=ca:true"),
        *("-dname", "CN=alice", "-validity", "36500", "-keystore", key, *common),
    )
    keytool("-exportcert", "-alias", "client", "-keystore", key, "-file", exported, *common)
    keytool("-importcert", "-alias", "ca", "-file", exported, "-keystore", trust, *common)
    return folder


@needs_keytool
def test_a_key_store_becomes_a_key_and_its_chain(stores: Path, tmp_path: Path) -> None:
    found = key_and_chain(str(stores / "key"), PASSWORD, None)
    pem = tmp_path / "client.pem"
    pem.write_text(found.chain + found.key.reveal_text())
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(pem)  # key and certificate belong
    assert "PRIVATE KEY" not in repr(found)


@needs_keytool
def test_a_trust_store_becomes_certificates(stores: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=trusted_certificates(str(stores / "trust"), PASSWORD))
    (certificate,) = context.get_ca_certs()
    assert certificate["subject"] == ((("commonName", "alice"),),)


@needs_keytool
def test_a_wrong_password_is_named_as_the_reason(stores: Path) -> None:
    with pytest.raises(KafkaConfigurationError, match="does not open with the password") as raised:
        trusted_certificates(str(stores / "trust"), Secret("wrong"))
    assert str(stores / "trust") in str(raised.value)


@needs_keytool
def test_a_trust_store_is_no_key_store(stores: Path) -> None:
    with pytest.raises(KafkaConfigurationError, match=r"holds (no|0) private key"):
        key_and_chain(str(stores / "trust"), PASSWORD, None)


def test_a_missing_file_is_said_to_be_needed_on_every_machine(tmp_path: Path) -> None:
    with pytest.raises(KafkaConfigurationError, match=r"No such file.*on every machine"):
        trusted_certificates(str(tmp_path / "absent.jks"), PASSWORD)


def test_any_other_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("not a store")
    with pytest.raises(KafkaConfigurationError, match="no PKCS12 store"):
        trusted_certificates(str(tmp_path / "notes"), PASSWORD)


def test_pem_is_told_from_a_store_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "ca.jks").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "ca.pem").write_bytes(b"\xfe\xed\xfe\xed")
    assert is_pem_file(str(tmp_path / "ca.jks"))
    assert not is_pem_file(str(tmp_path / "ca.pem"))
