#!/usr/bin/env bash
# One would guess: a transaction is all or nothing, so its commit fails if the broker has refused one of
# its records, as it does in the Java client and in librdkafka.
# What happens: aiokafka's commit succeeds, and readers of committed records get the others. The error
# is only in the future that send() returned. Nobody needs that future for anything else, as the commit
# waits for all records.
# What helps: await the future of each record before the transaction ends.
# Seen with aiokafka 0.14.0 (producer/sender.py fails the batch, and not the transaction),
# confluent-kafka 2.16.1 and Apache Kafka 4.4.0.
set -euo pipefail
PACKAGES="aiokafka==0.14.0 confluent-kafka==2.16.1"
work=$(mktemp -d)
trap 'kill "${broker:-0}" 2>/dev/null || true; wait "${broker:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q $PACKAGES
cat > "$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>a</groupId><artifactId>a</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.4.0</version>
</dependency></dependencies></project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/jars"
read -r port controller < <(python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]
print(*(each.getsockname()[1] for each in s))')
cat > "$work/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:$controller
log.dirs=$work/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
PROPERTIES
java -cp "$work/jars/*" kafka.tools.StorageTool format --standalone \
    -t MkU3OEVBNTcwNTJENDM2Qg -c "$work/server.properties" > "$work/format.log" 2>&1
java -Xmx512m -cp "$work/jars/*" kafka.Kafka "$work/server.properties" > "$work/broker.log" 2>&1 &
broker=$!
for _ in $(seq 120); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$broker"
    sleep 0.5
done

"$work/venv/bin/python" - "127.0.0.1:$port" <<'PYTHON'
import asyncio
import sys
import time
from aiokafka import AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

servers = {"bootstrap.servers": sys.argv[1]}
yesterday = int(time.time() * 1000) - 86_400_000
admin = AdminClient(servers)
admin.list_topics(timeout=60)
fresh = {"message.timestamp.before.max.ms": "60000"}
topics = [NewTopic("debits", 1, 1), NewTopic("credits", 1, 1, config=fresh)]
for made in admin.create_topics(topics).values():
    made.result(60)


async def with_aiokafka():
    producer = AIOKafkaProducer(bootstrap_servers=sys.argv[1], transactional_id="a")
    await producer.start()
    async with producer.transaction():
        await producer.send("debits", b"aiokafka -5")
        credit = await producer.send("credits", b"aiokafka +5", timestamp_ms=yesterday)
    await producer.stop()
    return type(credit.exception()).__name__


def with_confluent():
    producer = Producer({**servers, "transactional.id": "b", "log_level": 2})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("debits", b"confluent -5")
    producer.produce("credits", b"confluent +5", timestamp=yesterday)
    try:
        producer.commit_transaction(60)
    except KafkaException as refused:
        producer.abort_transaction(60)
        return refused.args[0].txn_requires_abort()
    return False


error = asyncio.run(with_aiokafka())
print(f"aiokafka: the commit succeeds; the future of the refused record has {error}")
must_abort = with_confluent()
print(f"confluent-kafka: the commit fails, and asks for an abort: {must_abort}")
consumer = Consumer({**servers, "group.id": "g", "isolation.level": "read_committed"})
consumer.assign([TopicPartition(topic, 0, 0) for topic in ("debits", "credits")])
seen = [message.value() for message in consumer.consume(10, timeout=5)]
consumer.close()
print(f"committed records: {seen}")
assert error == "InvalidTimestampError" and must_abort and seen == [b"aiokafka -5"]
PYTHON
