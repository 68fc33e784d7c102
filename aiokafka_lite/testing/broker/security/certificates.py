"""Makes the certificates of a secured broker: an authority, the nodes' one, and clients'.

trustme and cryptography are imported here only, at the first use. Does not wait.
"""

import ssl
from collections.abc import Collection
from datetime import UTC, datetime
from types import ModuleType
from typing import NamedTuple

VALID, EXPIRED, WRONG_HOST, UNKNOWN_CA = CERTIFICATE_KINDS = (
    "valid",
    "expired",
    "wrong_host",
    "unknown_ca",
)
_PAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
_LONG = datetime(2020, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class ClientCertificate(NamedTuple):
    """A client's certificate and its key, as PEM text, and the principal they stand for."""

    principal: str
    certificate_pem: str
    key_pem: str


class Certificates:
    """The authority of one embedded broker, and what it has signed."""

    def __init__(self, hosts: Collection[str]) -> None:
        """Make the authority and a certificate for `hosts`, host names and addresses.

        Raises: ModuleNotFoundError with the extra to install.
        """
        trustme = _trustme()
        self._hosts = sorted(hosts)
        self._authority = trustme.CA()
        self._stranger = trustme.CA()
        self.ca_pem: str = self._authority.cert_pem.bytes().decode()
        self._contexts: dict[str, ssl.SSLContext] = {}
        self.present(VALID)

    def server_context(self, client_auth: str) -> ssl.SSLContext:
        """Return what nodes shake hands with. Its certificate may change between two handshakes.

        `client_auth` says whether a client shows a certificate: none, requested or required.
        """
        if client_auth not in self._contexts:
            self._contexts[client_auth] = self._new_context(client_auth)
        return self._contexts[client_auth]

    def _new_context(self, client_auth: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if client_auth != "none":
            is_required = client_auth == "required"
            context.verify_mode = ssl.CERT_REQUIRED if is_required else ssl.CERT_OPTIONAL
            context.load_verify_locations(cadata=self.ca_pem)
        self._shown.configure_cert(context)
        return context

    def present(self, kind: str) -> None:
        """Show another certificate in the next handshakes; see `CERTIFICATE_KINDS`.

        Raises: ValueError for an unknown kind.
        """
        _check(kind)
        authority = self._stranger if kind == UNKNOWN_CA else self._authority
        begin, end = _PAST if kind == EXPIRED else _LONG
        hosts = ["other.invalid"] if kind == WRONG_HOST else self._hosts
        self._shown = authority.issue_cert(*hosts, not_before=begin, not_after=end)
        for context in self._contexts.values():
            self._shown.configure_cert(context)

    def node_pem(self) -> str:
        """Return the key and the certificate of the nodes, in the form that Apache Kafka reads."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

        key = serialization.load_pem_private_key(self._shown.private_key_pem.bytes(), None)
        key_pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,  # Java reads no other
            serialization.NoEncryption(),
        )
        certificate: bytes = self._shown.cert_chain_pems[0].bytes()
        return (key_pem + certificate).decode()

    def client_certificate(self, name: str, kind: str) -> ClientCertificate:
        """Return a certificate of the subject "CN=name", so the principal is "User:CN=name"."""
        _check(kind)
        from cryptography import x509  # noqa: PLC0415 - see the module's head
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

        authority = self._stranger if kind == UNKNOWN_CA else self._authority
        issuer = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
        issuer_key = serialization.load_pem_private_key(authority.private_key_pem.bytes(), None)
        assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)  # what trustme makes
        key = ec.generate_private_key(ec.SECP256R1())
        begin, end = _PAST if kind == EXPIRED else _LONG
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
            .issuer_name(issuer.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .sign(issuer_key, hashes.SHA256())
        )
        encoding = serialization.Encoding.PEM
        key_pem = key.private_bytes(
            encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return ClientCertificate(
            f"User:CN={name}", certificate.public_bytes(encoding).decode(), key_pem.decode()
        )


def principal_of_subject(subject: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    """Return the principal of a certificate, by the subject that `ssl` gives: "User:CN=a,O=b".

    Source: DefaultKafkaPrincipalBuilder with the rule DEFAULT; RFC 2253 writes the last part first.
    """
    parts = (
        "+".join(f"{_SHORT.get(key, key)}={_escaped(value)}" for key, value in part)
        for part in reversed(subject)
    )
    return "User:" + ",".join(parts)


_SHORT = {
    "commonName": "CN",
    "countryName": "C",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}


def _escaped(value: str) -> str:
    escaped = "".join(f"\\{each}" if each in ',+"\\<>;' else each for each in value)
    return f"\\{escaped}" if escaped.startswith(("#", " ")) else escaped


def _check(kind: str) -> None:
    if kind not in CERTIFICATE_KINDS:
        raise ValueError(
            f"a certificate is one of {', '.join(CERTIFICATE_KINDS)} here; got {kind!r}"
        )


def _trustme() -> ModuleType:
    try:
        import trustme  # noqa: PLC0415 - see the module's head
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "an embedded broker with TLS makes its certificates with trustme: "
            "pip install 'aiokafka-lite[testing]'"
        ) from error
    return trustme


__all__ = [
    "CERTIFICATE_KINDS",
    "VALID",
    "Certificates",
    "ClientCertificate",
    "principal_of_subject",
]
