"""Writes records whose handlers fail for good to another topic, with the reasons."""

from typing import Any

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.workers.connect_headers import LogIdentity, dead_letter_headers


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """Where `KeyedWorkers` writes the records that they give up.

    A dead letter has the key, value, timestamp and headers of its record. Further headers say where
    it failed and why, under the names of Kafka Connect: `__connect.errors.topic`, `.partition`,
    `.offset`, `.connector.name` (the group), `.task.id` (the client id), `.stage`, `.class.name`
    (the handler), and `.exception.class.name`, `.message` and `.stacktrace`. Source: KIP-298. Of
    the project are `.topic.id` and `.leader.epoch`: the offset means nothing in a topic that was
    made anew.
    """

    producer: AIOKafkaProducer[Any, Any]
    """A started producer. It outlives the workers, and has serializers if the consumer has
    deserializers.
    """
    topic: str

    async def _send(
        self,
        record: ConsumerRecord[Any, Any],
        error: BaseException,
        *,
        group_id: str,
        client_id: str,
        handler: str,
        log: LogIdentity | None = None,
    ) -> None:
        """Write one record, and return when it is stored.

        Raises: as `send_and_wait`. Cancelled: it may be stored or not.
        """
        headers = dead_letter_headers(
            record, error, name=group_id, member=client_id, handler=handler, log=log
        )
        key, value = record.key, record.value
        if key is None and value is None:  # which `send` takes for a mistake
            append = self.producer._path.send
            ack = await append(
                self.topic, None, None, None, record.timestamp, headers, allow_empty=True
            )
            await ack
            return
        await self.producer.send_and_wait(
            self.topic, value, key, timestamp_ms=record.timestamp, headers=headers
        )


__all__ = ["DeadLetters"]
