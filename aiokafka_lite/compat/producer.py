"""The AIOKafkaProducer that programs get under the name `aiokafka`."""

from aiokafka_lite.compat.client import AIOKafkaClient
from aiokafka_lite.producer import producer as lite
from aiokafka_lite.serialization import K_contra, V_contra


class AIOKafkaProducer(lite.AIOKafkaProducer[K_contra, V_contra]):
    """As `aiokafka_lite.AIOKafkaProducer`."""

    __slots__ = ()

    @property
    def client(self) -> AIOKafkaClient:
        """The connections and the metadata of this producer."""
        return AIOKafkaClient.of(self._config, lambda: self.kafka_client, type(self).__name__)


__all__ = ["AIOKafkaProducer"]
