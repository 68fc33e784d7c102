#!/usr/bin/env bash
# One would guess: a batch that an idempotent producer sends again, because the answer was lost, is
# answered as it was the first time.
# What happens: the offset is the same, but log_append_time_ms is not. Where a topic keeps the producer's
# times it is -1 at first, and the largest timestamp of the batch at the repetition. Clients take any
# value but -1 as the time that the broker gave to all records of the batch. So after a lost answer the
# metadata of a sent record may name a later record's time, and call it LogAppendTime.
# Seen with Apache Kafka 4.4.0 (UnifiedLog takes it from BatchMetadata.timestamp) and kafka-python 3.0.12,
# which encodes the batch; the requests are written by hand, as clients do not lose answers on demand.
set -euo pipefail
PACKAGES="kafka-python==3.0.12 confluent-kafka==2.16.1"
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
import socket
import struct
import sys
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.record.memory_records import MemoryRecordsBuilder

admin = AdminClient({"bootstrap.servers": sys.argv[1]})
admin.list_topics(timeout=60)
admin.create_topics([NewTopic("t", 1, 1)])["t"].result(60)
host, port = sys.argv[1].split(":")
connection = socket.create_connection((host, int(port)), timeout=60)


def ask(api_key, version, body):
    frame = struct.pack(">hhih", api_key, version, 7, -1) + body
    connection.sendall(struct.pack(">i", len(frame)) + frame)
    size, correlation = struct.unpack(">ii", connection.recv(8, socket.MSG_WAITALL))
    assert correlation == 7
    return connection.recv(size - 4, socket.MSG_WAITALL)


INIT_PRODUCER_ID, PRODUCE = 22, 0
error = 14
while error == 14:  # COORDINATOR_LOAD_IN_PROGRESS, in the broker's first moments
    answer = ask(INIT_PRODUCER_ID, 0, struct.pack(">hi", -1, 60_000))
    _, error, producer, epoch = struct.unpack(">ihqh", answer)
assert error == 0, error
batch = MemoryRecordsBuilder(
    2, 0, 10_000, producer_id=producer, producer_epoch=epoch, base_sequence=0
)
batch.append(1_000, b"k", b"first", [])
batch.append(9_000, b"k", b"second", [])
batch.close()
records = bytes(batch.buffer())
body = struct.pack(">hhi", -1, -1, 30_000) + struct.pack(">ih1sii", 1, 1, b"t", 1, 0)
body += struct.pack(">i", len(records)) + records
told = []
for time in ("first", "second"):
    answer = ask(PRODUCE, 7, body)
    error, offset, append_time, _ = struct.unpack(">hqqq", answer[15:41])
    print(f"{time} answer: error {error}, base offset {offset}, log append time {append_time}")
    told.append((error, offset, append_time))
assert told == [(0, 0, -1), (0, 0, 9_000)]
PYTHON
