"""The options of an admin client: those of every client. Does not wait."""

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.light_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class AdminConfig(ClientConfig):
    """The options of one admin client. Raises: as ClientConfig."""


__all__ = ["AdminConfig"]
