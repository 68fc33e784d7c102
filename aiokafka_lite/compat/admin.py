"""The AIOKafkaAdminClient that programs get under the name `aiokafka`."""

from typing import Any

from aiokafka_lite.admin import admin_client
from aiokafka_lite.compat.defaults import signature_of, with_defaults


class AIOKafkaAdminClient(admin_client.AIOKafkaAdminClient):
    """As `aiokafka_lite.AIOKafkaAdminClient`, with aiokafka's defaults.

    Raises: as that; ValueError for what aiokafka refuses.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**with_defaults("AIOKafkaAdminClient", options))

    __init__.__signature__ = signature_of("AIOKafkaAdminClient")  # type: ignore[attr-defined]


__all__ = ["AIOKafkaAdminClient"]
