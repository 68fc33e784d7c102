"""Certificates for tests: an authority, its certificates, and their files and contexts."""

import datetime as dt
import ssl
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PASSWORD = "open sesame"


def _an_hour_ago() -> dt.datetime:
    return dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)


class Authority:
    """A certificate authority that a test makes for itself."""

    def __init__(self) -> None:
        self._ca = trustme.CA()

    @property
    def pem(self) -> str:
        """The certificate of the authority."""
        return self._ca.cert_pem.bytes().decode()

    def issue(self, *names: str, days: float = 365) -> "Issued":
        """Return a certificate for host names and IP addresses, valid for `days` from now.

        With a negative number it has already expired. It is valid since an hour ago: the machine's
        clock may be set back a little.
        """
        end = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
        begin = min(end - dt.timedelta(days=1), _an_hour_ago())
        return Issued(self._ca.issue_cert(*names, not_before=begin, not_after=end), self)

    def revoking(self, *revoked: "Issued") -> str:
        """Return the list of the certificates that are revoked, in PEM."""
        now = _an_hour_ago()
        issuer = x509.load_pem_x509_certificate(self.pem.encode())
        builder = x509.CertificateRevocationListBuilder(
            issuer_name=issuer.subject, last_update=now, next_update=now + dt.timedelta(days=1)
        )
        for each in revoked:
            serial = x509.load_pem_x509_certificate(each.certificate_pem.encode()).serial_number
            builder = builder.add_revoked_certificate(
                x509.RevokedCertificateBuilder(serial, now).build()
            )
        key = serialization.load_pem_private_key(self._ca.private_key_pem.bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        signed = builder.sign(key, hashes.SHA256())
        return signed.public_bytes(serialization.Encoding.PEM).decode()

    def trusted(self) -> ssl.SSLContext:
        """Return a client's context that trusts this authority and no other."""
        return ssl.create_default_context(cadata=self.pem)

    def write(self, path: Path) -> Path:
        """Write the certificate of the authority to a file."""
        path.write_text(self.pem)
        return path


class Issued:
    """A certificate with its private key."""

    def __init__(self, leaf: trustme.LeafCert, authority: Authority) -> None:
        self.leaf = leaf
        self.authority = authority

    @property
    def certificate_pem(self) -> str:
        return "".join(each.bytes().decode() for each in self.leaf.cert_chain_pems)

    @property
    def key_pem(self) -> str:
        return self.leaf.private_key_pem.bytes().decode()

    @property
    def pkcs8_key_pem(self) -> str:
        """The private key, in the only form that Java reads."""
        key = serialization.load_pem_private_key(self.key_pem.encode(), None)
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()

    @property
    def encrypted_key_pem(self) -> str:
        """The private key, encrypted with `PASSWORD`."""
        key = serialization.load_pem_private_key(self.key_pem.encode(), None)
        return key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(PASSWORD.encode()),
        ).decode()

    def serving(self, *, asks_clients: bool = False) -> ssl.SSLContext:
        """Return a server's context with this certificate."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.leaf.configure_cert(context)
        if asks_clients:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=self.authority.pem)
        return context
