"""Reads Java's key stores, JKS and PKCS12, as PEM. It reads a file and blocks.

JKS needs pyjks and PKCS12 needs cryptography; both come with the extra `keystores`. They are
imported at the first use.
"""

import base64
import importlib
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.secret import Secret

_JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
_PEM_BEGIN: Final = b"-----BEGIN "


class KeyAndChain(NamedTuple):
    """What a key store holds, in PEM."""

    chain: str
    """The certificate of the key, then those of its issuers."""
    key: Secret
    """The private key, not encrypted."""


def is_pem_file(path: str) -> bool:
    """Return whether the file is PEM, and no key store.

    Raises: KafkaConfigurationError if the file cannot be read.
    """
    return _PEM_BEGIN in _content(path)


def trusted_certificates(path: str, password: Secret | None) -> str:
    """Return the trusted certificates of a store, as PEM.

    Raises: KafkaConfigurationError naming the file, what is wrong and the remedy.
    """
    content = _content(path)
    if content.startswith(_JKS_MAGIC):
        store = _jks(path, content, password)
        found = [entry.cert for entry in store.certs.values()]
        found += [chain[0][1] for chain in _chains(store)]
    else:
        _, own, others = _pkcs12(path, content, password)
        found = [*own, *others]
    if not found:
        raise _fault(path, "holds no certificate; import one with `keytool -importcert`")
    return _pem("CERTIFICATE", found)


def key_and_chain(path: str, password: Secret | None, key_password: Secret | None) -> KeyAndChain:
    """Return the one private key of a store and its certificates. `key_password` None: the key has
    the password of the store.

    Raises: as `trusted_certificates`.
    """
    content = _content(path)
    if content.startswith(_JKS_MAGIC):
        store = _jks(path, content, password)
        keys = list(store.private_keys.values())
        if len(keys) != 1:
            raise _fault(path, f"holds {len(keys)} private keys; keep one in it")
        entry = keys[0]
        if not entry.is_decrypted():
            _decrypt(path, entry, key_password or password)
        certificates = [each for _, each in entry.cert_chain]
        return KeyAndChain(
            _pem("CERTIFICATE", certificates), Secret(_pem("PRIVATE KEY", [entry.pkey_pkcs8]))
        )
    key, own, others = _pkcs12(path, content, password)
    if key is None:
        raise _fault(path, "holds no private key; name the store with the client's key")
    return KeyAndChain(_pem("CERTIFICATE", [*own, *others]), Secret(_pem("PRIVATE KEY", [key])))


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _fault(
            path,
            f"cannot be read ({error.strerror}); the file has to be at this path on every machine"
            " that connects",
        ) from error


def _jks(path: str, content: bytes, password: Secret | None) -> Any:
    try:
        jks = importlib.import_module("jks")  # it has no types
    except ImportError as error:
        raise _missing(path, "JKS", "pyjks") from error
    if password is None:
        raise _fault(path, "is a JKS store and needs its password")
    try:
        return jks.KeyStore.loads(content, password.reveal_text(), try_decrypt_keys=False)
    except jks.util.KeystoreSignatureException as error:
        raise _fault(path, "does not open with the password that was given") from error
    except jks.util.KeystoreException as error:
        raise _fault(path, f"is no usable JKS store ({error})") from error


def _chains(store: Any) -> Iterable[Any]:
    return (entry.cert_chain for entry in store.private_keys.values() if entry.cert_chain)


def _decrypt(path: str, entry: Any, password: Secret | None) -> None:
    jks = importlib.import_module("jks")
    try:
        entry.decrypt(password.reveal_text() if password is not None else "")
    except jks.util.DecryptionFailureException as error:
        raise _fault(path, "has a private key that needs another ssl.key.password") from error


def _pkcs12(
    path: str, content: bytes, password: Secret | None
) -> tuple[bytes | None, list[bytes], list[bytes]]:
    """Return the key, its certificate and the other certificates, each as DER."""
    try:
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError as error:
        raise _missing(path, "PKCS12", "cryptography") from error
    try:
        store = pkcs12.load_pkcs12(content, None if password is None else password.reveal_bytes())
    except ValueError as error:
        raise _fault(
            path, "is no PKCS12 store, or does not open with the password that was given"
        ) from error
    key: bytes | None = None
    if store.key is not None:
        key = store.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    own = [] if store.cert is None else [store.cert.certificate.public_bytes(Encoding.DER)]
    others = [each.certificate.public_bytes(Encoding.DER) for each in store.additional_certs]
    return key, own, others


def _pem(kind: str, all_der: Iterable[bytes]) -> str:
    blocks = []
    for der in all_der:
        lines = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
        blocks.append(f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n")
    return "".join(blocks)


def _missing(path: str, kind: str, package: str) -> KafkaConfigurationError:
    return _fault(
        path,
        f"is a {kind} store, which {package} reads; install aiokafka-lite[keystores], or give PEM",
    )


def _fault(path: str, what: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(f"key store {quoted(path)} {what}")


__all__ = ["KeyAndChain", "is_pem_file", "key_and_chain", "trusted_certificates"]
