"""A FastAPI service whose lifespan holds a producer and a consumer worker.

    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 uvicorn examples.fastapi_worker:app

`POST /orders` writes an order to Kafka, and answers once the broker has it. The worker reads the
topic as a member of a group and keeps a total per customer. `GET /totals` returns the totals.
Several instances share the partitions. If one stops, the others continue at its committed offsets.
If a worker fails, `GET /health` returns the reason.
"""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import CommitFailedError, RebalanceInProgressError

TOPIC = "orders"


class Order(BaseModel):
    customer: str
    amount: int


class Worker:
    """Reads every order and adds it up. If an error ends it, the error is kept."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.totals: Counter[str] = Counter()
        self.error: Exception | None = None
        self._bootstrap_servers = bootstrap_servers

    async def run(self) -> None:
        try:
            async with AIOKafkaConsumer(
                TOPIC,
                bootstrap_servers=self._bootstrap_servers,
                group_id="totals",
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            ) as consumer:
                while True:
                    for records in (await consumer.getmany(timeout_ms=1000)).values():
                        for record in records:
                            self.add(record.value)
                    if consumer.assignment():
                        await self.commit(consumer)
        except Exception as error:  # noqa: BLE001 - the health check shows it, whatever it is
            self.error = error

    async def commit(self, consumer: AIOKafkaConsumer) -> None:
        """Commit the processed offsets.

        If a rebalance prevents it, the next owner reads the orders again.
        """
        with suppress(CommitFailedError, RebalanceInProgressError):
            await consumer.commit()

    def add(self, value: bytes | None) -> None:
        order = Order.model_validate_json(value or b"")
        self.totals[order.customer] += order.amount


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    bootstrap_servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")
    async with (
        AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer,
        anyio.create_task_group() as tasks,
    ):
        app.state.producer = producer
        app.state.worker = Worker(bootstrap_servers)
        tasks.start_soon(app.state.worker.run)
        yield
        tasks.cancel_scope.cancel()


app = FastAPI(lifespan=lifespan)


@app.post("/orders", status_code=201)
async def place(order: Order, request: Request) -> dict[str, int]:
    producer: AIOKafkaProducer = request.app.state.producer
    value = json.dumps(order.model_dump()).encode()
    metadata = await producer.send_and_wait(TOPIC, value, key=order.customer.encode())
    return {"partition": metadata.partition, "offset": metadata.offset}


@app.get("/totals")
async def totals(request: Request) -> dict[str, int]:
    return dict(request.app.state.worker.totals)


@app.get("/health")
async def health(request: Request) -> dict[str, str]:
    error = request.app.state.worker.error
    if error is not None:
        raise HTTPException(503, detail=f"the worker ended: {error!r}")
    return {"status": "ok"}
