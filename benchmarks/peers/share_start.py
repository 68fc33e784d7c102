"""Lets a new share group read from the beginning: only the group's config can say that."""

from aiokafka_lite.admin import AIOKafkaAdminClient, ConfigResource, ConfigResourceType


async def begin_at_the_start(bootstrap_servers: str, group_id: str) -> None:
    """Set the group's `share.auto.offset.reset`."""
    configs = {"share.auto.offset.reset": "earliest"}
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        group = ConfigResource(ConfigResourceType.GROUP, group_id, configs=configs)
        (await admin.incremental_alter_configs([group])).raise_first()
