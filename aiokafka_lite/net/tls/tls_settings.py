"""Makes an `ssl.SSLContext` from certificates and keys, given as paths or as PEM text.

It uses the defaults of `ssl.PROTOCOL_TLS_CLIENT`: the certificate and the host name of the node are
checked. On top come TLS 1.2 as the oldest version and no renegotiation. A certificate that is
trusted by name need not be a root, as in Java. Does not wait.
"""

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Final, NoReturn

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.net.tls.tls_failures import reason
from aiokafka_lite.options.secret_options import hidden, may_be_path
from aiokafka_lite.secret import Secret

PemOrPath = str | os.PathLike[str] | Secret
"""The text of a PEM file, or the path of one. A text with "-----BEGIN" is PEM. Text in which a key
may be is a `Secret`."""

_BEGIN: Final = "-----BEGIN "
_STORES: Final = "a JKS or PKCS12 store has to be converted to PEM, e.g. by `openssl pkcs12`"


@dataclass(frozen=True, kw_only=True, slots=True)
class TlsSettings:
    """What a context is made of. The fields are the `ssl_` options of a client without prefix.

    Without `cafile`, `capath` and `cadata` the certificate authorities of the system are trusted.
    """

    cafile: PemOrPath | None = field(default=None, repr=False)
    capath: str | os.PathLike[str] | None = None
    cadata: str | bytes | None = field(default=None, repr=False)
    certfile: PemOrPath | None = field(default=None, repr=False)
    keyfile: PemOrPath | None = field(default=None, repr=False)
    password: Secret | None = None
    crlfile: PemOrPath | None = field(default=None, repr=False)
    ciphers: str | None = None
    check_hostname: bool = True
    prefix: str = "ssl_"
    """What stands before the names of the fields in error texts."""

    def __post_init__(self) -> None:
        """Keep PEM text, in which a key may be, as a `Secret`, and all paths as they are."""
        for name in ("certfile", "keyfile"):
            value = getattr(self, name)
            if isinstance(value, Secret):
                text = value.reveal_text()
                object.__setattr__(self, name, text if may_be_path(text) else value)
            else:
                object.__setattr__(self, name, hidden(f"ssl_{name}", value))

    @property
    def trusts_system(self) -> bool:
        """Whether the certificate authorities of the system are trusted."""
        return self.cafile is None and self.capath is None and self.cadata is None

    def files(self) -> list[str]:
        """Return the paths among the settings, for a look whether they have changed."""
        given = (self.cafile, self.certfile, self.keyfile, self.crlfile)
        paths = [_path(each) for each in given if each is not None and not is_pem(each)]
        return paths if self.capath is None else [*paths, os.fspath(self.capath)]


def is_pem(value: PemOrPath) -> bool:
    """Return whether `value` is the text of a PEM file, and not a path."""
    return isinstance(value, Secret) or (isinstance(value, str) and _BEGIN in value)


def make_context(settings: TlsSettings, *, with_system: bool = True) -> ssl.SSLContext:
    """Return a context for connections to nodes. It reads files, so it blocks.

    Reading the certificate authorities of the system takes 100 ms of CPU. `with_system=False`
    leaves them out, for a check of the settings alone.

    Raises: KafkaConfigurationError, with the option, what is wrong with it and the remedy, if one
    of the settings cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = settings.check_hostname
    if settings.ciphers is not None:
        _choose_ciphers(context, settings)
    _trust(context, settings)
    if settings.trusts_system and with_system:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    if settings.crlfile is not None:
        _heed_revocations(context, settings, settings.crlfile)
    if settings.certfile is not None:
        _identify(context, settings, settings.certfile)
    return context


def _choose_ciphers(context: ssl.SSLContext, settings: TlsSettings) -> None:
    try:
        context.set_ciphers(settings.ciphers or "")
    except ssl.SSLError as error:
        raise _fault(
            settings,
            "ciphers",
            settings.ciphers,
            "names no cipher that OpenSSL knows; take names from `openssl ciphers`, joined by ':'",
        ) from error


# The certificate authorities…


def _trust(context: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.cafile is not None:
        _load_cafile(context, settings, settings.cafile)
    if settings.capath is not None:
        path = os.fspath(settings.capath)
        if not Path(path).is_dir():
            raise _fault(settings, "capath", path, "is no directory; name one made by `c_rehash`")
        context.load_verify_locations(capath=path)
    if settings.cadata is not None:
        try:
            context.load_verify_locations(cadata=settings.cadata)
        except (ssl.SSLError, ValueError) as error:
            raise _fault(
                settings,
                "cadata",
                None,
                f"holds no certificate ({reason(error)}); give it as PEM text or as DER bytes",
            ) from error


def _load_cafile(context: ssl.SSLContext, settings: TlsSettings, cafile: PemOrPath) -> None:
    _require_readable(settings, "cafile", cafile)
    try:
        with _as_file(cafile) as path:
            context.load_verify_locations(cafile=path)
    except (OSError, ValueError) as error:
        raise _fault(
            settings,
            "cafile",
            cafile,
            f"holds no certificate in PEM ({reason(error)}); {_STORES}",
        ) from error


def _heed_revocations(context: ssl.SSLContext, settings: TlsSettings, crlfile: PemOrPath) -> None:
    _require_readable(settings, "crlfile", crlfile)
    try:
        with _as_file(crlfile) as path:
            context.load_verify_locations(cafile=path)
    except (OSError, ValueError) as error:
        raise _fault(
            settings,
            "crlfile",
            crlfile,
            f"holds no revocation list in PEM ({reason(error)})",
        ) from error
    context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


# The certificate of this client…


def _identify(context: ssl.SSLContext, settings: TlsSettings, certfile: PemOrPath) -> None:
    keyfile = certfile if settings.keyfile is None else settings.keyfile
    name = "certfile" if settings.keyfile is None else "keyfile"
    if _BEGIN + "CERTIFICATE-----" not in _text_of(settings, "certfile", certfile):
        raise _fault(settings, "certfile", certfile, f"holds no certificate in PEM; {_STORES}")
    if "PRIVATE KEY-----" not in _text_of(settings, name, keyfile):
        remedy = f"; set {settings.prefix}keyfile" if settings.keyfile is None else f"; {_STORES}"
        raise _fault(settings, name, keyfile, f"holds no private key in PEM{remedy}")
    was_asked = False

    def password() -> str | bytes:
        # OpenSSL calls this for an encrypted key alone. Without it, it would ask the terminal.
        nonlocal was_asked
        was_asked = True
        if settings.password is None:
            raise _fault(
                settings, name, keyfile, f"is encrypted; set {settings.prefix}password to open it"
            )
        return settings.password.reveal()

    try:
        with _as_file(certfile) as cert_path, _as_file(keyfile) as key_path:
            context.load_cert_chain(cert_path, key_path, password)
    except KafkaConfigurationError:
        raise
    except (OSError, ValueError) as error:
        _raise_unusable(settings, name, keyfile, error, was_asked=was_asked)


def _raise_unusable(
    settings: TlsSettings, name: str, keyfile: PemOrPath, error: Exception, *, was_asked: bool
) -> NoReturn:
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        what = "does not belong to the certificate; give the key that it was issued for"
    elif was_asked:
        what = f"cannot be opened with {settings.prefix}password ({reason(error)}); correct it"
    else:
        what = f"cannot be used ({reason(error)}); check the PEM of key and certificate"
    raise _fault(settings, name, keyfile, what) from error


# Files…


def _path(value: PemOrPath) -> str:
    assert not isinstance(value, Secret)  # PEM text is no path
    return os.fspath(value)


def _text_of(settings: TlsSettings, name: str, value: PemOrPath) -> str:
    if is_pem(value):
        return _pem(value)
    _require_readable(settings, name, value)
    return Path(_path(value)).read_bytes().decode("latin-1")


def _pem(value: PemOrPath) -> str:
    return value.reveal_text() if isinstance(value, Secret) else str(value)


def _require_readable(settings: TlsSettings, name: str, value: PemOrPath) -> None:
    if is_pem(value):
        return
    try:
        with Path(_path(value)).open("rb"):
            pass
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise _fault(
            settings,
            name,
            value,
            f"cannot be read ({said}); give the path of a PEM file or its text",
        ) from error


@contextmanager
def _as_file(value: PemOrPath) -> Iterator[str]:
    """Give a path to `value`, since OpenSSL takes keys from files alone. A text gets a file that
    only this user can read, in memory where the system has that."""
    if not is_pem(value):
        yield _path(value)
        return
    in_memory = hasattr(os, "memfd_create")
    if in_memory:
        number = os.memfd_create("pem", os.MFD_CLOEXEC)
        path = f"/proc/self/fd/{number}"
    else:
        number, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(_pem(value).encode())
            file.flush()
            yield path
    finally:
        if not in_memory:
            Path(path).unlink()


def _fault(
    settings: TlsSettings, name: str, value: PemOrPath | None, what: str
) -> KafkaConfigurationError:
    option = settings.prefix + name
    if value is None or is_pem(value):
        return KafkaConfigurationError(f"{option} {what}")
    return KafkaConfigurationError(f"{option}={quoted(_path(value))} {what}")


__all__ = ["PemOrPath", "TlsSettings", "is_pem", "make_context"]
