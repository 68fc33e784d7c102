"""A FastAPI service that writes over TLS, with a certificate of its own.

    KAFKA_BOOTSTRAP_SERVERS=kafka:9093 KAFKA_TLS_FOLDER=/etc/kafka uvicorn examples.tls_fastapi:app

The folder has `ca.pem`, `client.pem` and `client.key`. Files that change are used by the next
connection, so a renewed certificate needs no restart. The service does not start with a wrong one:
the error names what is wrong and the remedy.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from pydantic import BaseModel

from aiokafka_lite import AIOKafkaProducer


class Message(BaseModel):
    text: str


def secure_producer() -> AIOKafkaProducer:
    folder = Path(os.environ.get("KAFKA_TLS_FOLDER", "/etc/kafka"))
    return AIOKafkaProducer(
        bootstrap_servers=os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9093"),
        security_protocol="SSL",
        ssl_cafile=folder / "ca.pem",
        ssl_certfile=folder / "client.pem",
        ssl_keyfile=folder / "client.key",
    )


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with secure_producer() as producer:
        app.state.producer = producer
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/messages", status_code=201)
async def write(message: Message, request: Request) -> dict[str, int]:
    producer: AIOKafkaProducer = request.app.state.producer
    metadata = await producer.send_and_wait("messages", message.text.encode())
    return {"partition": metadata.partition, "offset": metadata.offset}
