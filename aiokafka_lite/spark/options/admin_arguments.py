"""The arguments of an admin client, out of those of a consumer or producer. Does not wait."""

from collections.abc import Mapping
from typing import Any, Final

from aiokafka_lite.spark.options.kafka_keys import COMMON
from aiokafka_lite.spark.options.sealed_properties import SECURITY, client_arguments

_OF_ADMIN: Final = frozenset(argument for argument, _ in COMMON.values()) | {SECURITY}


def admin_arguments(client: Mapping[str, object]) -> dict[str, Any]:
    """Return the arguments that an admin client has, too. It reads the files they name.

    Raises: as `client_arguments`.
    """
    return client_arguments({name: client[name] for name in client if name in _OF_ADMIN})


__all__ = ["admin_arguments"]
