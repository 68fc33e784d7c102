"""Makes the TLS context of clients by hand, under the name and the signature of aiokafka."""

import os
from ssl import SSLContext

from aiokafka_lite.net.tls.tls_settings import TlsSettings, make_context
from aiokafka_lite.secret import Secret


def create_ssl_context(
    *,
    cafile: str | os.PathLike[str] | None = None,
    capath: str | os.PathLike[str] | None = None,
    cadata: str | bytes | None = None,
    certfile: str | os.PathLike[str] | None = None,
    keyfile: str | os.PathLike[str] | None = None,
    password: str | bytes | Secret | None = None,
) -> SSLContext:
    """Return a context for the option `ssl_context`, as the `ssl_` options of a client make it.

    It trusts the authorities of `cafile`, `capath` and `cadata`, or without these those of the
    system. `certfile` and `keyfile` are the client's certificate and its private key, which
    `password` opens. Files may be given as a path or as PEM text. The files are read now, so the
    call blocks. With the options of a client, files that change are read again.

    Raises: KafkaConfigurationError, with the argument, what is wrong with it and the remedy, if one
    of the arguments cannot be used.
    """
    settings = TlsSettings(
        cafile=cafile,
        capath=capath,
        cadata=cadata,
        certfile=certfile,
        keyfile=keyfile,
        password=None if password is None else Secret(password),
        prefix="",
    )
    return make_context(settings)


__all__ = ["create_ssl_context"]
