"""The AIOKafkaAdminClient that programs get under the name `aiokafka`."""

from aiokafka_lite.admin import admin_client


class AIOKafkaAdminClient(admin_client.AIOKafkaAdminClient):
    """As `aiokafka_lite.AIOKafkaAdminClient`."""


__all__ = ["AIOKafkaAdminClient"]
