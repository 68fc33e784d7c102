"""Java's own client under Kafka's load tools: ProducerPerformance and ConsumerPerformance.

The producer's values have no keys; the consumer is always in a group of one. Both are idempotent
with acks=all by their defaults. The JVM has the flags of Kafka's scripts. The cost of a run of
`START_RECORDS` is subtracted, so the start of the JVM does not count. The work of its compiler
during the run counts.
"""

import asyncio
import re
import resource
import subprocess
import time
from collections.abc import Callable, Sequence

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.java_runtime import find_java, kafka_jars, tools_version
from benchmarks.peers.job import Job, Outcome
from benchmarks.peers.share_start import begin_at_the_start

JVM_FLAGS = ("-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")
START_RECORDS = 1000
TIMEOUT_S = 120
_PRODUCER = "org.apache.kafka.tools.ProducerPerformance"
_CONSUMER = "org.apache.kafka.tools.ConsumerPerformance"
_SHARE_CONSUMER = "org.apache.kafka.tools.ShareConsumerPerformance"
_MAX = re.compile(r"([\d.]+) ms max latency, (\d+) ms 50th, \d+ ms 95th, (\d+) ms 99th")


def send(job: Job) -> None:
    """`ProducerPerformance` as fast as it can."""
    _less_the_start(job, lambda records: _produce(job, records, -1))


def getmany(job: Job) -> None:
    """`ConsumerPerformance` with `max.poll.records` 500."""
    group(job)


def group(job: Job) -> None:
    """`ConsumerPerformance` with `max.poll.records` 500."""
    _less_the_start(job, lambda records: _consume(job, records))


def share_group(job: Job) -> None:
    """`ShareConsumerPerformance` with `max.poll.records` 500."""
    _less_the_start(job, lambda records: _share(job, f"{job.group_id}-{records}", records))


def paced(job: Job) -> None:
    """`ProducerPerformance --throughput`: reports quantiles of the latencies, in whole ms."""
    settings = ("linger.ms=0", "request.timeout.ms=30000", "retry.backoff.ms=100")
    job.begin_paced()
    said = _produce(job, job.records + job.warm_up, job.per_second, job.warm_up, settings)
    found = _MAX.findall(said)[-1]
    job.outcome.quantiles_s = {
        name: float(ms) / 1000 for name, ms in zip(("max", "p50", "p99"), found, strict=True)
    }
    job.outcome.records = job.records


def _less_the_start(job: Job, run: Callable[[int], str]) -> None:
    first, whole = _cost(run, START_RECORDS), _cost(run, job.records)
    job.outcome = Outcome(
        records=job.records - START_RECORDS,
        cpu_s=whole.cpu_s - first.cpu_s,
        wall_s=whole.wall_s - first.wall_s,
    )


def _cost(run: Callable[[int], str], records: int) -> Outcome:
    before, began_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(records)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(cpu_s=cpu_s, wall_s=time.perf_counter() - began_s)


def _produce(
    job: Job,
    records: int,
    per_second: int,
    warm_up: int = 0,
    settings: Sequence[str] = (),
) -> str:
    return _tool(
        _PRODUCER,
        *("--bootstrap-server", job.bootstrap_servers, "--topic", job.topic),
        *("--num-records", str(records), "--record-size", str(job.value_bytes)),
        *("--throughput", str(per_second), "--warmup-records", str(warm_up)),
        *("--command-property", "acks=all", *settings),
    )


def _consume(job: Job, records: int) -> str:
    return _tool(
        _CONSUMER,
        *("--bootstrap-server", job.bootstrap_servers, "--topic", job.topic),
        *("--num-records", str(records)),
    )


def _share(job: Job, group_id: str, records: int) -> str:
    asyncio.run(begin_at_the_start(job.bootstrap_servers, group_id))
    return _tool(
        _SHARE_CONSUMER,
        *("--bootstrap-server", job.bootstrap_servers, "--topic", job.topic),
        *("--group", group_id, "--num-records", str(records)),
    )


def _tool(name: str, *arguments: str) -> str:
    command = [
        str(find_java()),
        *JVM_FLAGS,
        "-cp",
        f"{kafka_jars(tools_version(DEFAULT_VERSION))}/*",
        name,
    ]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0 or not done.stdout:
        raise SystemExit(f"{name} failed: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    return done.stdout
