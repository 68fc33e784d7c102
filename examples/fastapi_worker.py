"""A FastAPI service whose lifespan holds a producer and a consumer worker.

    KAFKA_BOOTSTRAP_SERVERS=localhost:9092 uvicorn examples.fastapi_worker:app

`POST /orders` writes an order to Kafka, and answers once the broker has it. The worker reads the
topic as a member of a group and keeps a total per customer. `GET /totals` returns the totals.
Several instances share the partitions. If one stops, the others continue at its committed offsets.
The service waits half a minute for Kafka at start. A record that is no order is logged and passed
over. If the worker fails, `GET /health` returns the reason, and the worker starts again after a
pause.
"""

import json
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, ValidationError

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import CommitFailedError, RebalanceInProgressError

TOPIC = "orders"
WAIT_FOR_KAFKA_MS = 30_000
RESTART_S = 5.0

logger = logging.getLogger(__name__)


class Order(BaseModel):
    customer: str
    amount: int


class Worker:
    """Reads every order and adds it up. An error is kept until the worker reads again."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.totals: Counter[str] = Counter()
        self.error: Exception | None = None
        self._bootstrap_servers = bootstrap_servers

    async def run(self) -> None:
        """Read until cancelled. After an error start again, at the committed offsets."""
        while True:
            try:
                await self.read()
            except Exception as error:
                logger.exception("the worker starts again in %s s", RESTART_S)
                self.error = error
            await anyio.sleep(RESTART_S)

    async def read(self) -> None:
        async with AIOKafkaConsumer(
            TOPIC,
            bootstrap_servers=self._bootstrap_servers,
            bootstrap_timeout_ms=WAIT_FOR_KAFKA_MS,
            group_id="totals",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        ) as consumer:
            while True:
                for partition, records in (await consumer.getmany(timeout_ms=1000)).items():
                    for record in records:
                        try:
                            self.add(record.value)
                        except ValidationError as error:
                            where = f"{partition.topic}-{partition.partition}@{record.offset}"
                            logger.warning("%s is no order and is passed over: %s", where, error)
                if consumer.assignment():
                    await self.commit(consumer)
                    self.error = None

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
        AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers, bootstrap_timeout_ms=WAIT_FOR_KAFKA_MS
        ) as producer,
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
        raise HTTPException(503, detail=f"the worker failed: {error!r}")
    return {"status": "ok"}
