"""Finds the API and the error of a fault, by class, number or Kafka's name. Does not wait.

Case, `_`, `-` and spaces in a name do not count, nor do the endings of class names. So "Fetch",
"FetchRequest" and "FETCH" are the same API.
"""

from difflib import get_close_matches
from typing import Any

from aiokafka_lite.broker_errors import BrokerResponseError, kafka_errors
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.schema.message import Request

Api = int | str | type[Request[Any]]
"""An API by its name ("Fetch"), its key (`ApiKey.FETCH`) or its request type (`FetchRequest`)."""
Error = int | str | type[BrokerResponseError]
"""A broker's error by Kafka's name ("NOT_LEADER_OR_FOLLOWER"), its code or its class."""


def api_key_of(api: Api) -> int:
    """Return the key of an API.

    Raises: ValueError for an unknown name, with the nearest names or all; TypeError for a value
    of another type.
    """
    if isinstance(api, str):
        return _found(api, "API", _APIS, _API_NAMES)
    if isinstance(api, int):
        return api
    try:
        return api.api_key
    except AttributeError:
        raise TypeError(
            f"{api!r} is no API; pass its name, such as 'Produce', its key or its request type"
        ) from None


def error_code_of(error: Error) -> int:
    """Return the code of an error.

    Raises: ValueError for an unknown name, with the nearest names or all; TypeError for a value
    of another type.
    """
    if isinstance(error, str):
        return _found(error, "error", _ERRORS, _ERROR_NAMES)
    if isinstance(error, int):
        return error
    try:
        return error.errno
    except AttributeError:
        raise TypeError(
            f"{error!r} is no error of a broker; pass its name, such as 'NOT_LEADER_OR_FOLLOWER',"
            " its code or its class"
        ) from None


def _plain(name: str) -> str:
    plain = "".join(character for character in name.casefold() if character not in "_- ")
    for ending in _ENDINGS:
        plain = plain.removesuffix(ending)
    return plain


def _found(name: str, what: str, codes: dict[str, int], names: dict[int, str]) -> int:
    """Return the code of `name`. `names` has Kafka's spelling of each, for the error."""
    plain = _plain(name)
    if plain in codes:
        return codes[plain]
    near = dict.fromkeys(names[codes[close]] for close in get_close_matches(plain, codes))
    if near:
        raise ValueError(f"{name!r} is no {what} of Kafka; did you mean {' or '.join(near)}?")
    raise ValueError(f"{name!r} is no {what} of Kafka; pass one of {', '.join(names.values())}")


_ENDINGS = ("request", "exception", "error")
_API_NAMES = {int(key): key.name.title().replace("_", "") for key in ApiKey}
_APIS = {_plain(name): code for code, name in _API_NAMES.items()}
_ERROR_NAMES = {code: found.message for code, found in kafka_errors.items() if code}
_ERRORS = {
    _plain(name): code
    for code in _ERROR_NAMES
    for name in (kafka_errors[code].message, kafka_errors[code].__name__)
}

__all__ = ["Api", "Error", "api_key_of", "error_code_of"]
