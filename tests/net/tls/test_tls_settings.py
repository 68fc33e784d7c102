"""A context is made of PEM, text or files; what cannot be used is named with its remedy."""

import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.net.tls.tls_settings import TlsSettings, make_context
from aiokafka_lite.secret import Secret
from tests.support.certificates import PASSWORD, Authority, Issued


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def client(authority: Authority) -> Issued:
    return authority.issue("client@example.org")


def handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str = "localhost") -> Any:
    """Run a handshake in memory; return what the server knows of the client's certificate."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ends[1].getpeercert()


def test_without_settings_names_are_checked_and_old_versions_refused() -> None:
    context = make_context(TlsSettings(), with_system=False)
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.options & ssl.OP_NO_RENEGOTIATION
    assert not context.get_ca_certs()


def test_the_authorities_of_the_system_are_trusted_if_no_others_are_named(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.write(tmp_path / "system.pem")))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert len(make_context(TlsSettings()).get_ca_certs()) == 1
    other = Authority()
    (only,) = make_context(TlsSettings(cadata=other.pem)).get_ca_certs()
    assert only == other.trusted().get_ca_certs()[0]


@pytest.mark.parametrize("form", ["path", "text", "data", "der"])
def test_authorities_come_as_a_path_as_text_or_as_bytes(
    form: str, authority: Authority, tmp_path: Path
) -> None:
    settings = {
        "path": TlsSettings(cafile=authority.write(tmp_path / "ca.pem")),
        "text": TlsSettings(cafile=authority.pem),
        "data": TlsSettings(cadata=authority.pem),
        "der": TlsSettings(cadata=ssl.PEM_cert_to_DER_cert(authority.pem)),
    }
    handshake(make_context(settings[form]), authority.issue("localhost").serving())


@pytest.mark.parametrize("is_path", [False, True])
@pytest.mark.parametrize("in_one", [False, True])
def test_a_client_shows_its_certificate(
    authority: Authority, client: Issued, tmp_path: Path, *, is_path: bool, in_one: bool
) -> None:
    certfile, keyfile = client.certificate_pem, client.key_pem
    if in_one:
        certfile += keyfile
    if is_path:
        (tmp_path / "cert.pem").write_text(certfile)
        (tmp_path / "key.pem").write_text(keyfile)
        certfile, keyfile = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    context = make_context(
        TlsSettings(cafile=authority.pem, certfile=certfile, keyfile=None if in_one else keyfile)
    )
    server = authority.issue("localhost").serving(asks_clients=True)
    known = handshake(context, server)
    assert known["subjectAltName"] == (("email", "client@example.org"),)


@pytest.mark.parametrize("password", [PASSWORD, PASSWORD.encode()])
def test_a_password_opens_an_encrypted_key(client: Issued, password: str | bytes) -> None:
    make_context(
        TlsSettings(
            certfile=client.certificate_pem,
            keyfile=client.encrypted_key_pem,
            password=Secret(password),
        ),
        with_system=False,
    )


def test_an_encrypted_key_without_a_password_does_not_ask_the_terminal(
    client: Issued, tmp_path: Path
) -> None:
    """OpenSSL would wait for a line. Here its standard input never gets one."""
    (tmp_path / "cert.pem").write_text(client.certificate_pem)
    (tmp_path / "key.pem").write_text(client.encrypted_key_pem)
    program = (
        "from aiokafka_lite.net.tls.tls_settings import *\n"
        f"make_context(TlsSettings(certfile={str(tmp_path / 'cert.pem')!r}, "
        f"keyfile={str(tmp_path / 'key.pem')!r}), with_system=False)"
    )
    read_end, write_end = os.pipe()
    try:
        ran = subprocess.run(
            [sys.executable, "-c", program],
            stdin=read_end,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            start_new_session=True,
        )
    finally:
        os.close(read_end)
        os.close(write_end)
    assert f"ssl_keyfile={str(tmp_path / 'key.pem')!r} is encrypted; set ssl_password" in ran.stderr


def mistakes(authority: Authority, client: Issued, tmp_path: Path) -> dict[str, TlsSettings]:
    (tmp_path / "store.jks").write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    certificate, key = client.certificate_pem, client.key_pem
    broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    return {
        "ssl_cafile='/no/such/ca.pem' cannot be read (No such file": TlsSettings(
            cafile="/no/such/ca.pem"
        ),
        "store.jks' holds no certificate in PEM (no certificate or crl found); a JKS": TlsSettings(
            cafile=tmp_path / "store.jks"
        ),
        "ssl_cafile holds no certificate in PEM": TlsSettings(cafile=broken),
        "ssl_cadata holds no certificate": TlsSettings(cadata=b"\x30\x01"),
        "ssl_capath='/no/such' is no directory": TlsSettings(capath="/no/such"),
        "ssl_certfile='/no/such/cert.pem' cannot be read": TlsSettings(
            certfile="/no/such/cert.pem"
        ),
        "ssl_certfile holds no certificate in PEM": TlsSettings(certfile=key),
        "ssl_certfile holds no private key in PEM; set ssl_keyfile": TlsSettings(
            certfile=certificate
        ),
        "ssl_keyfile holds no private key in PEM; a JKS": TlsSettings(
            certfile=certificate, keyfile=certificate
        ),
        "ssl_keyfile does not belong to the certificate": TlsSettings(
            certfile=certificate, keyfile=authority.issue("other").key_pem
        ),
        "ssl_keyfile is encrypted; set ssl_password": TlsSettings(
            certfile=certificate, keyfile=client.encrypted_key_pem
        ),
        "ssl_keyfile cannot be opened with ssl_password (": TlsSettings(
            certfile=certificate, keyfile=client.encrypted_key_pem, password=Secret("wrong one")
        ),
        "ssl_keyfile cannot be used (": TlsSettings(
            certfile=certificate, keyfile=key.replace("M", "N", 1)
        ),
        "ssl_ciphers='NONE-SUCH' names no cipher": TlsSettings(ciphers="NONE-SUCH"),
        "ssl_crlfile='/no/such/crl.pem' cannot be read": TlsSettings(crlfile="/no/such/crl.pem"),
        "store.jks' holds no revocation list in PEM": TlsSettings(
            crlfile=str(tmp_path / "store.jks")
        ),
    }


MISTAKES = tuple(range(16))


@pytest.mark.parametrize("number", MISTAKES)
def test_a_mistake_names_its_option_and_shows_no_key(
    number: int, authority: Authority, client: Issued, tmp_path: Path
) -> None:
    cases = mistakes(authority, client, tmp_path)
    assert len(cases) == len(MISTAKES)
    sentence, settings = list(cases.items())[number]
    with pytest.raises(KafkaConfigurationError) as caught:
        make_context(settings, with_system=False)
    assert sentence in str(caught.value)
    for secret in ("PRIVATE", "wrong one"):
        assert secret not in str(caught.value)
        assert secret not in repr(settings)


def test_ciphers_are_those_that_were_chosen() -> None:
    context = make_context(TlsSettings(ciphers="ECDHE-ECDSA-AES256-GCM-SHA384"), with_system=False)
    old = [each["name"] for each in context.get_ciphers() if each["protocol"] == "TLSv1.2"]
    assert old == ["ECDHE-ECDSA-AES256-GCM-SHA384"]


def test_names_of_other_hosts_are_accepted_on_request_only(authority: Authority) -> None:
    server = authority.issue("elsewhere.example.org").serving()
    handshake(make_context(TlsSettings(cadata=authority.pem, check_hostname=False)), server)
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(make_context(TlsSettings(cadata=authority.pem)), server)


def test_a_revoked_certificate_is_refused_and_others_are_not(authority: Authority) -> None:
    revoked, valid = authority.issue("localhost"), authority.issue("localhost")
    context = make_context(TlsSettings(cadata=authority.pem, crlfile=authority.revoking(revoked)))
    handshake(context, valid.serving())
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate revoked"):
        handshake(context, revoked.serving())


def test_text_leaves_no_file_behind_where_memory_has_none(
    client: Issued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    make_context(
        TlsSettings(certfile=client.certificate_pem, keyfile=client.key_pem), with_system=False
    )
    assert not list(tmp_path.iterdir())
