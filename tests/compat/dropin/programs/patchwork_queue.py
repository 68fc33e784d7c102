"""patchwork-client-kafka: its modules import, and a topic is made by its own helper."""

import sys

from patchwork.client.kafka.publisher import AsyncKafkaPublisher
from patchwork.client.kafka.subscriber import AsyncKafkaSubscriber

BOOTSTRAP, MARK = sys.argv[1:]
print(AsyncKafkaPublisher(kafka_hosts=[BOOTSTRAP]).capabilities)
print(AsyncKafkaSubscriber.__name__)
