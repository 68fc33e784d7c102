"""The options that encrypt connections: `security_protocol` and those that begin with `ssl_`.

Other names than `security_protocol` and `ssl_context` are kafka-python's. Certificates and keys are
PEM, as text or as the path of a file. What makes contexts is imported when a client uses TLS.
Does not wait.
"""

from collections.abc import Iterator
from dataclasses import field, fields
from os import PathLike
from ssl import SSLContext
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.net.security import NextTlsContext
from aiokafka_lite.options.secret_options import hidden
from aiokafka_lite.secret import Secret

if TYPE_CHECKING:
    from aiokafka_lite.net.tls.tls_settings import TlsSettings

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
_WITH_TLS: Final = ("SSL", "SASL_SSL")


class _NotChosen(str):
    """The default of `security_protocol`: no one has said that nothing is to be encrypted."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True, init=False, repr=False, eq=False)
class TlsOptions:
    """How connections are encrypted, and whom the client trusts.

    Without `ssl_context` the client makes contexts from the other options. When one of the files
    has changed, the next connection uses the new content. Files that cannot be used any more are a
    warning in the log, and new connections go on with the old content.
    """

    security_protocol: SecurityProtocol = cast("SecurityProtocol", _NotChosen("PLAINTEXT"))
    """How connections are encrypted and authenticated. "SSL" and "SASL_SSL" encrypt by TLS; the
    node has to show a certificate for its name. Java: security.protocol."""
    ssl_context: SSLContext | None = field(default=None, repr=False)
    """The context of encrypted connections. It is used as it is, so the other `ssl_` options must
    not be set. None: the client makes it from them. Not in Java."""
    ssl_cafile: str | PathLike[str] | None = field(default=None, repr=False)
    """Certificates of the authorities that are trusted, in PEM: the text, or the path of a file.
    Without it and `ssl_cadata` those of the system are trusted. A node's own certificate may stand
    here, too. Java: ssl.truststore.location. Not in aiokafka."""
    ssl_cadata: str | bytes | None = field(default=None, repr=False)
    """Certificates of trusted authorities beside those of `ssl_cafile`: PEM as str, or DER as
    bytes. Java: ssl.truststore.certificates. Not in aiokafka."""
    ssl_certfile: str | PathLike[str] | Secret | None = field(default=None, repr=False)
    """The client's certificate and those of its issuers, in PEM: the text, or the path of a file.
    The private key may be in it. Java: ssl.keystore.location. Not in aiokafka."""
    ssl_keyfile: str | PathLike[str] | Secret | None = field(default=None, repr=False)
    """The private key of `ssl_certfile`, in PEM: the text, or the path of a file. None: it is in
    `ssl_certfile`. Java: ssl.keystore.key. Not in aiokafka."""
    ssl_password: str | bytes | Secret | None = field(default=None, repr=False)
    """Opens an encrypted private key. Java: ssl.key.password. Not in aiokafka."""
    ssl_check_hostname: bool = True
    """Whether the node's certificate must be for the name or IP address at which the client reaches
    it. False gives up the protection against other machines with a certificate of the same
    authority. Java: ssl.endpoint.identification.algorithm. Not in aiokafka."""
    ssl_ciphers: str | None = None
    """Ciphers for TLS 1.2 in OpenSSL's notation, such as "ECDHE+AESGCM". Those of TLS 1.3 are
    fixed. None: those of Python. Java: ssl.cipher.suites. Not in aiokafka."""
    ssl_crlfile: str | PathLike[str] | None = field(default=None, repr=False)
    """Certificates that their authority has revoked, in PEM: the text, or the path of a file. A
    node with a revoked certificate is refused. Not in Java. Not in aiokafka."""

    def __repr__(self) -> str:
        """As a dataclass's own, which would cost each import of a client a compilation."""
        shown = (
            f"{each.name}={quoted(getattr(self, each.name))}" for each in fields(self) if each.repr
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def next_tls_context(self) -> NextTlsContext | None:
        """Return what gives each connection its context; None: connections are not encrypted."""
        if self.security_protocol not in _WITH_TLS:
            return None
        from aiokafka_lite.net.tls.tls_contexts import FixedContext, TlsContexts  # noqa: PLC0415

        if self.ssl_context is not None:
            return FixedContext(self.ssl_context).next_context
        return TlsContexts(self._tls_settings()).next_context

    def _hide_tls_secrets(self) -> None:
        """Keep the password, and keys given as text, as `Secret` from now on."""
        for name in ("ssl_password", "ssl_certfile", "ssl_keyfile"):
            object.__setattr__(self, name, hidden(name, getattr(self, name)))

    def _settle_protocol(self) -> None:
        """Keep the protocol as a plain str from now on."""
        object.__setattr__(self, "security_protocol", str(self.security_protocol))

    def _tls_settings(self) -> "TlsSettings":
        from aiokafka_lite.net.tls.tls_settings import TlsSettings  # noqa: PLC0415

        password = self.ssl_password
        return TlsSettings(
            cafile=self.ssl_cafile,
            cadata=self.ssl_cadata,
            certfile=self.ssl_certfile,
            keyfile=self.ssl_keyfile,
            password=None if password is None else Secret(password),
            crlfile=self.ssl_crlfile,
            ciphers=self.ssl_ciphers,
            check_hostname=self.ssl_check_hostname,
        )

    def _tls_faults(self) -> Iterator[str]:
        """Yield one sentence per wrong option. Certificates and keys are read for it."""
        if self.security_protocol not in get_args(SecurityProtocol):
            yield (
                f"security_protocol={quoted(self.security_protocol)}: "
                "`security_protocol` should be SSL "
                f"or PLAINTEXT; set it to one of {', '.join(map(repr, get_args(SecurityProtocol)))}"
            )
            return
        wrong_types = list(self._wrong_types())
        given = [name for name, default in _DEFAULTS.items() if getattr(self, name) != default]
        yield from wrong_types
        if self.security_protocol not in _WITH_TLS:
            for name in given if self._is_protocol_forgotten else ():
                yield (
                    f"{name} has no effect with "
                    f"security_protocol={str(self.security_protocol)!r}, the default; set"
                    " that to 'SSL' or 'SASL_SSL', or leave the option out"
                )
        elif self.ssl_context is not None:
            for name in given:
                if name != "ssl_context":
                    yield f"{name} contradicts ssl_context; set it in the context, or set only one"
        elif not wrong_types:
            yield from self._faults_of_files()

    @property
    def _is_protocol_forgotten(self) -> bool:
        """Whether nobody has named a protocol. Options that need another one then say that more
        was meant than an open connection. A protocol that is named counts, and they do nothing.
        """
        return isinstance(self.security_protocol, _NotChosen)

    def _wrong_types(self) -> Iterator[str]:
        for name, (types, expected) in _TYPES.items():
            value = getattr(self, name)
            may_be_none = _DEFAULTS[name] is None
            if not isinstance(value, types) and not (value is None and may_be_none):
                yield f"{name} is of type {type(value).__name__}; set it to {expected}"

    def _faults_of_files(self) -> Iterator[str]:
        if self.ssl_certfile is None and self.ssl_keyfile is not None:
            yield "ssl_keyfile has no effect without ssl_certfile; set the certificate, too"
            return
        from aiokafka_lite.net.tls.tls_settings import make_context  # noqa: PLC0415

        try:
            make_context(self._tls_settings(), with_system=False)
        except KafkaConfigurationError as error:
            yield str(error.args[0])


_PEM: Final = ((str, PathLike), "PEM text or the path of a PEM file")
_SECRET_PEM: Final = ((*_PEM[0], Secret), _PEM[1])
_TYPES: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "ssl_context": ((SSLContext,), "an ssl.SSLContext"),
    "ssl_cafile": _PEM,
    "ssl_cadata": ((str, bytes), "PEM text or DER bytes"),
    "ssl_certfile": _SECRET_PEM,
    "ssl_keyfile": _SECRET_PEM,
    "ssl_password": ((str, bytes, Secret), "a str or a Secret"),
    "ssl_check_hostname": ((bool,), "True or False"),
    "ssl_ciphers": ((str,), "OpenSSL's names of ciphers, joined by ':'"),
    "ssl_crlfile": _PEM,
}
_DEFAULTS: Final = {name: name == "ssl_check_hostname" or None for name in _TYPES}

__all__ = ["SecurityProtocol", "TlsOptions"]
