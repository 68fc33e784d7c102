"""ddtrace: the spans of a producer and a consumer, with data streams where it is asked for."""

import asyncio
import sys

from ddtrace import patch, tracer
from ddtrace.trace import TraceFilter

BOOTSTRAP, MARK = sys.argv[1:]
spans: list[str] = []


class Keep(TraceFilter):
    def process_trace(self, trace: list) -> None:
        spans.extend(
            f"{span.name} {span.resource} {span.get_tag('messaging.system')} {span.error}"
            for span in trace
        )


tracer.configure(trace_processors=[Keep()])
patch(aiokafka=True)

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # noqa: E402


async def main() -> None:
    topic = f"dd-{MARK}"
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP) as producer:
        for number in range(3):
            await producer.send_and_wait(topic, b"%d" % number, key=b"k", partition=0)
        await (await producer.send(topic, b"3", partition=0, headers=[("mine", b"x")]))
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=BOOTSTRAP,
        group_id=f"dd-{MARK}",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    async with consumer:
        values = [(await consumer.getone()).value]
        while len(values) < 4:
            for records in (await consumer.getmany(timeout_ms=1000)).values():
                values += [record.value for record in records]
        await consumer.commit()
        print(values, await consumer.committed(TopicPartition(topic, 0)))
    tracer.flush()
    names = [span.split()[0] for span in spans]
    print({name: names.count(name) for name in sorted(set(names)) if "consume" not in name})
    print(
        "consumed", any("consume" in name for name in names), sorted({s.split()[-1] for s in spans})
    )


asyncio.run(main())
