"""Creates a topic and describes it."""

import asyncio
import sys
import uuid

from aiokafka.admin import AIOKafkaAdminClient, NewTopic


async def main() -> None:
    topic = f"short-{uuid.uuid4()}"
    admin = AIOKafkaAdminClient(bootstrap_servers=sys.argv[1])
    await admin.start()
    try:
        answer = await admin.create_topics([NewTopic(topic, 3, 1)])
        print([code for _, code, *_ in answer.topic_errors], topic in await admin.list_topics())
        print(len((await admin.describe_topics([topic]))[0]["partitions"]))
    finally:
        await admin.close()


asyncio.run(main())
