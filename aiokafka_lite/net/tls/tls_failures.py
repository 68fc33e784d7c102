"""Says what went wrong in TLS: what OpenSSL said, what it means, and the remedy. Does not wait.

What concerns certificates, versions and ciphers is a TlsAuthenticationError, which is fatal at the
start, as in Java. A connection that breaks is a KafkaConnectionError, and is made again.
"""

import ssl
from typing import TYPE_CHECKING, Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConnectionError, KafkaError, TlsAuthenticationError
from aiokafka_lite.net.tls.certificate_facts import CertificateFacts

if TYPE_CHECKING:
    import datetime as dt

_SHOWN_NAMES: Final = 10

# Codes of X509_verify_cert, from OpenSSL's x509_vfy.h.
_NOT_YET_VALID: Final = 9
_EXPIRED: Final = 10
_UNKNOWN_ISSUER: Final = frozenset({2, 18, 19, 20, 21, 27})
_NO_REVOCATION_LIST: Final = 3
_REVOKED: Final = 23
_WRONG_NAME: Final = frozenset({62, 64})

_NO_TLS: Final = frozenset(
    {
        "WRONG_VERSION_NUMBER",
        "HTTP_REQUEST",
        "HTTPS_PROXY_REQUEST",
        "PACKET_LENGTH_TOO_LONG",
        "RECORD_LAYER_FAILURE",
        "UNEXPECTED_MESSAGE",
        "UNKNOWN_PROTOCOL",
    }
)
_NO_VERSION: Final = frozenset(
    {
        "NO_PROTOCOLS_AVAILABLE",
        "TLSV1_ALERT_PROTOCOL_VERSION",
        "UNSUPPORTED_PROTOCOL",
        "VERSION_TOO_LOW",
    }
)
_NO_CIPHER: Final = frozenset(
    {
        "NO_CIPHERS_AVAILABLE",
        "NO_SHARED_CIPHER",
        "SSLV3_ALERT_HANDSHAKE_FAILURE",
        "TLSV1_ALERT_INSUFFICIENT_SECURITY",
        "WRONG_CIPHER_RETURNED",
    }
)
_ASKED_FOR_CERTIFICATE: Final = frozenset(
    {"SSLV3_ALERT_BAD_CERTIFICATE", "TLSV13_ALERT_CERTIFICATE_REQUIRED"}
)
_REFUSED_CERTIFICATE: Final = frozenset(
    {
        "SSLV3_ALERT_CERTIFICATE_EXPIRED",
        "SSLV3_ALERT_CERTIFICATE_REVOKED",
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
        "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
        "TLSV1_ALERT_ACCESS_DENIED",
        "TLSV1_ALERT_DECRYPT_ERROR",
        "TLSV1_ALERT_UNKNOWN_CA",
    }
)
_BROKEN: Final = (ssl.SSLEOFError, ssl.SSLSyscallError, ssl.SSLZeroReturnError)

CLOSED_IN_HANDSHAKE: Final = (
    "closed the connection during the TLS handshake; is its listener's security protocol SSL or"
    " SASL_SSL? A PLAINTEXT or SASL_PLAINTEXT listener does this"
)
SILENT_IN_HANDSHAKE: Final = (
    "the TCP connection stands, but nothing answers the TLS handshake on it; is this a Kafka"
    " broker, and is its listener's security protocol SSL or SASL_SSL?"
)


def handshake_error(error: Exception, peer: str, name: str) -> KafkaError:
    """Return the error for a TLS handshake with `peer`, whose certificate has to be for `name`."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _caused(TlsAuthenticationError(_distrust(error, peer, name)), error)
    if isinstance(error, ssl.SSLError) and not isinstance(error, _BROKEN):
        return _caused(TlsAuthenticationError(_refusal(error, peer)), error)
    return _caused(KafkaConnectionError(f"{peer} {CLOSED_IN_HANDSHAKE}"), error)


def later_error(error: ssl.SSLError, peer: str) -> KafkaError:
    """Return the error for what OpenSSL said after the handshake.

    In TLS 1.3 the node refuses the certificate of the client at that time.
    """
    if error.reason in _ASKED_FOR_CERTIFICATE | _REFUSED_CERTIFICATE:
        return _caused(TlsAuthenticationError(_refusal(error, peer)), error)
    return _caused(KafkaConnectionError(f"{peer} broke the connection ({reason(error)})"), error)


def wants_certificate(error: KafkaError) -> bool:
    """Return whether the text of the error would say more with the facts of the certificate."""
    cause = error.__cause__
    return isinstance(cause, ssl.SSLCertVerificationError) and (
        cause.verify_code in {_EXPIRED, _NOT_YET_VALID, *_UNKNOWN_ISSUER, *_WRONG_NAME}
    )


def with_certificate(error: KafkaError, facts: CertificateFacts) -> KafkaError:
    """Return the error with the facts of the certificate that caused it."""
    cause = error.__cause__
    assert isinstance(cause, ssl.SSLCertVerificationError)
    return _caused(type(error)(f"{error.args[0]}. {_evidence(cause.verify_code, facts)}"), cause)


def _evidence(code: int, facts: CertificateFacts) -> str:
    if code in _WRONG_NAME:
        if not facts.names:
            return f"The certificate of {quoted(facts.subject)} is for no host name"
        shown = ", ".join(facts.names[:_SHOWN_NAMES])
        left = len(facts.names) - _SHOWN_NAMES
        return f"The certificate is for: {shown}" + (f" and {left} more" if left > 0 else "")
    if code in _UNKNOWN_ISSUER:
        return f"The certificate of {quoted(facts.subject)} was issued by {quoted(facts.issuer)}"
    return f"The certificate is valid from {_date(facts.not_before)} to {_date(facts.not_after)}"


def reason(error: Exception) -> str:
    """Return what OpenSSL or the system said, without the place in the source of CPython."""
    said: str = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return said.replace("_", " ").lower() if said.isupper() else said


def _date(when: "dt.datetime") -> str:
    return f"{when:%Y-%m-%d %H:%M:%S} UTC"


def _distrust(error: ssl.SSLCertVerificationError, peer: str, name: str) -> str:
    code, said = error.verify_code, error.verify_message.rstrip(".")
    if code in _WRONG_NAME:
        what = f"is not for {quoted(name)}"
        remedy = (
            "connect by a name of the certificate (the broker's advertised.listeners), or get a"
            " certificate for this one"
        )
    elif code == _EXPIRED:
        what = "or one of its issuers has expired"
        remedy = "renew it, and check the clock of this machine"
    elif code == _NOT_YET_VALID:
        what, remedy = "is not valid yet", "check the clocks of this machine and of the issuer"
    elif code in _UNKNOWN_ISSUER:
        what = "is of an authority that is not trusted"
        remedy = "set ssl_cafile (or the ssl_context) to the certificate of that authority"
    elif code == _REVOKED:
        what, remedy = "was revoked by its authority", "give the broker a new one"
    elif code == _NO_REVOCATION_LIST:
        what = "cannot be checked for revocation"
        remedy = "ssl_crlfile needs the list of the authority that issued it"
    else:
        what, remedy = "is not accepted", "correct the certificate of the broker"
    return f"{peer}: the TLS certificate of the broker {what} (OpenSSL: {said}); {remedy}"


def _refusal(error: ssl.SSLError, peer: str) -> str:
    code = error.reason
    if code in _NO_TLS:
        what = "the peer does not speak TLS"
        remedy = (
            "use the port of an SSL or SASL_SSL listener, or set security_protocol to PLAINTEXT or"
            " SASL_PLAINTEXT"
        )
    elif code in _NO_VERSION:
        what = "client and broker have no TLS version in common"
        remedy = "this client speaks TLS 1.2 and 1.3; check the broker's ssl.enabled.protocols"
    elif code in _ASKED_FOR_CERTIFICATE:
        what = "the broker requires a certificate of this client, or does not accept the one given"
        remedy = "set ssl_certfile and ssl_keyfile to a certificate that the broker trusts"
    elif code in _REFUSED_CERTIFICATE:
        what = "the broker does not accept the certificate of this client"
        remedy = (
            "set ssl_certfile and ssl_keyfile to one that has not expired, of an authority that the"
            " broker trusts"
        )
    elif code in _NO_CIPHER:
        what = "client and broker have no TLS cipher or version in common"
        remedy = (
            "check ssl_ciphers and the broker's ssl.cipher.suites; a broker that requires a"
            " certificate of the client may say this, too: set ssl_certfile"
        )
    else:
        what, remedy = "the TLS handshake failed", "check the TLS settings of both sides"
    return f"{peer}: {what} (OpenSSL: {reason(error)}); {remedy}"


def _caused(error: KafkaError, cause: Exception) -> KafkaError:
    error.__cause__ = cause
    return error


__all__ = [
    "CLOSED_IN_HANDSHAKE",
    "SILENT_IN_HANDSHAKE",
    "handshake_error",
    "later_error",
    "reason",
    "wants_certificate",
    "with_certificate",
]
