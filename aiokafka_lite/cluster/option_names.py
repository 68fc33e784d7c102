"""Says which option was meant when a client is given one it does not have. Plain."""

import difflib
import functools
from collections.abc import Callable, Collection
from typing import Any

OTHER_NAMES = {
    "batch_size": "max_batch_size",
    "brokers": "bootstrap_servers",
    "group": "group_id",
    "interceptor_classes": "interceptors",
    "partitioner_class": "partitioner",
    "ssl_cafile": "ssl_context",
    "ssl_certfile": "ssl_context",
    "ssl_check_hostname": "ssl_context",
    "ssl_keyfile": "ssl_context",
    "ssl_truststore_location": "ssl_context",
}
"""What Java, librdkafka and kafka-python call options that have another name here."""


def meant_option(name: str, known: Collection[str]) -> str | None:
    """Return the option of `known` that is most likely meant by `name`, None if none is near.

    Java's names with dots are known, too.
    """
    plain = name.replace(".", "_")
    wanted = OTHER_NAMES.get(plain, plain)
    if wanted in known:
        return wanted
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.75)
    return near[0] if near else None


def explain_unknown_options(init: Callable[..., None]) -> Callable[..., None]:
    """Decorate a client's `__init__`: its TypeError about an unknown option names the one meant."""
    code = init.__code__
    known = frozenset(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])

    @functools.wraps(init)
    def checked(self: object, *args: Any, **options: Any) -> None:
        for name in options:
            if name not in known:
                meant = meant_option(name, known)
                remedy = f"; did you mean {meant!r}?" if meant else ""
                raise TypeError(
                    f"{type(self).__name__}() got an unexpected keyword argument {name!r}{remedy}"
                )
        init(self, *args, **options)

    return checked


__all__ = ["explain_unknown_options", "meant_option"]
