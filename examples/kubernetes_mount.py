"""Reads a topic in Kubernetes, with what a pod has mounted: `python examples/kubernetes_mount.py`.

    volumes:
      - name: kafka                       # ca.crt, tls.crt and tls.key, as cert-manager writes them
        secret: {secretName: kafka-client}

KAFKA_BOOTSTRAP_SERVERS, KAFKA_TOPIC and KAFKA_MOUNT (/var/run/secrets/kafka) come from the pod's
environment. A renewed certificate is used by the next connection, so the pod needs no restart.
SIGTERM, which Kubernetes sends first, leaves the group and commits.
"""

import asyncio
import os
import signal
from pathlib import Path

from aiokafka_lite import AIOKafkaConsumer


async def read() -> None:
    mount = Path(os.environ.get("KAFKA_MOUNT", "/var/run/secrets/kafka"))
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    consumer = AIOKafkaConsumer(
        os.environ.get("KAFKA_TOPIC", "orders"),
        bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
        group_id="kubernetes",
        auto_offset_reset="earliest",
        security_protocol="SSL",
        ssl_cafile=mount / "ca.crt",
        ssl_certfile=mount / "tls.crt",
        ssl_keyfile=mount / "tls.key",
    )
    async with consumer:
        while not stopped.is_set():
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    print(record.offset, record.value, flush=True)


if __name__ == "__main__":
    asyncio.run(read())
