"""The AIOKafkaConsumer that programs get under the name `aiokafka`."""

from aiokafka_lite.compat.client import AIOKafkaClient
from aiokafka_lite.consumer import consumer as lite
from aiokafka_lite.model import KT, VT


class AIOKafkaConsumer(lite.AIOKafkaConsumer[KT, VT]):
    """As `aiokafka_lite.AIOKafkaConsumer`."""

    __slots__ = ()

    @property
    def client(self) -> AIOKafkaClient:
        """The connections and the metadata of this consumer."""
        return AIOKafkaClient.of(self._config, lambda: self.kafka_client, type(self).__name__)


__all__ = ["AIOKafkaConsumer"]
