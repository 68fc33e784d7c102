"""The certificates of a secured broker."""

import builtins
import ssl
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.testing.broker.security.certificates import (
    CERTIFICATE_KINDS,
    Certificates,
    ClientCertificate,
    principal_of_subject,
)


def shake_hands(
    certificates: Certificates, client: ssl.SSLContext, host: str, client_auth: str = "none"
) -> ssl.SSLObject:
    """Let client and server speak until both are done; return the server's side."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(to_client, to_server, server_hostname=host)
    context = certificates.server_context(client_auth)
    far = context.wrap_bio(to_server, to_client, server_side=True)
    for side in (near, far, near, far):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return far


def client_of(
    certificates: Certificates, shown: ClientCertificate | None = None, folder: Any = None
) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=certificates.ca_pem)
    if shown is not None:
        path = folder / "client.pem"
        path.write_text(shown.key_pem + shown.certificate_pem)
        context.load_cert_chain(path)
    return context


@pytest.fixture(scope="module")
def certificates() -> Certificates:
    return Certificates(["localhost", "127.0.0.1"])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_the_authority_vouches_for_each_host(host: str) -> None:
    made = Certificates(["localhost", "127.0.0.1"])
    shake_hands(made, client_of(made), host)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "Hostname mismatch"),
        ("unknown_ca", "unable to get local issuer certificate"),
    ],
)
def test_each_bad_certificate_is_bad_for_its_reason_only(kind: str, text: str) -> None:
    made = Certificates(["localhost"])
    made.present(kind)
    with pytest.raises(ssl.SSLCertVerificationError, match=text):
        shake_hands(made, client_of(made), "localhost")
    made.present("valid")
    shake_hands(made, client_of(made), "localhost")


def test_all_listeners_show_the_same_certificate() -> None:
    made = Certificates(["localhost"])
    open_to_all, for_known = made.server_context("none"), made.server_context("requested")
    assert (open_to_all.verify_mode, for_known.verify_mode) == (ssl.CERT_NONE, ssl.CERT_OPTIONAL)
    assert made.server_context("none") is open_to_all
    made.present("expired")
    for client_auth in ("none", "requested", "required"):
        with pytest.raises(ssl.SSLCertVerificationError, match="certificate has expired"):
            shake_hands(made, client_of(made), "localhost", client_auth)


def test_a_clients_certificate_gives_its_principal(
    certificates: Certificates, tmp_path: Any
) -> None:
    shown = certificates.client_certificate("alice", "valid")
    far = shake_hands(
        certificates, client_of(certificates, shown, tmp_path), "localhost", "required"
    )
    subject = far.getpeercert()
    assert subject is not None
    assert principal_of_subject(subject["subject"]) == shown.principal == "User:CN=alice"  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["expired", "unknown_ca"])
def test_a_bad_client_certificate_is_refused(
    certificates: Certificates, kind: str, tmp_path: Any
) -> None:
    shown = certificates.client_certificate("alice", kind)
    with pytest.raises(ssl.SSLError, match="verify failed"):
        shake_hands(certificates, client_of(certificates, shown, tmp_path), "localhost", "required")


def test_an_unknown_kind_is_named_with_the_known_ones(certificates: Certificates) -> None:
    with pytest.raises(ValueError, match=r"valid, expired, wrong_host, unknown_ca.*got 'old'"):
        certificates.present("old")
    assert len(CERTIFICATE_KINDS) == 4


def test_a_subject_of_several_parts_is_written_as_java_writes_it() -> None:
    subject = ((("countryName", "DE"),), (("organizationName", "A, B"),), (("commonName", "a"),))
    assert principal_of_subject(subject) == r"User:CN=a,O=A\, B,C=DE"


def test_without_trustme_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "trustme":
            raise ModuleNotFoundError(name)
        return real_import(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'aiokafka-lite\[testing\]'"):
        Certificates(["localhost"])


def test_apache_kafka_reads_the_nodes_key(tmp_path: Path) -> None:
    pem = Certificates(["localhost"]).node_pem()
    assert pem.startswith("-----BEGIN PRIVATE KEY-----\n")
    (tmp_path / "node.pem").write_text(pem)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tmp_path / "node.pem")
