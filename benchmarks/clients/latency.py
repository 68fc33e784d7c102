"""Measures latency by the same harness: from the call that sends to the ack, and to the consumer.

One producer process sends at a fixed rate to one partition, with linger 0. One consumer process of
the same client reads the records. Both use the machine's clock. Clients take turns within a round,
and every second round has them in reverse. The broker has cores of its own. A sample is a quantile
of one round's records after a warm-up.

The first rounds do not count: they are the broker's warm-up, by the load that is measured. A fresh
JVM compiles its code then, and its long-lived objects leave the young generation. An Apache broker
has its whole heap from the start. With a heap that began with 64 MB, a collection stopped it for
6 ms each 0.6 s, which is 1 % of the records. So p99 was the length of that pause for two minutes,
until a full collection enlarged the heap.
"""

import math
from collections.abc import Iterator, Sequence

from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.child_process import child_process
from benchmarks.processes.cores import divided_cores
from benchmarks.processes.harness import PEERS, fresh, in_turn, peer_command, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import Table, collect

PER_SECOND = 1000
RUN_S = 5.0
WARM_UP = 300
WARM_UP_S = 60.0
"""How long the broker has this load before a round counts. Figures are steady after 30 s."""
JAVA_OPTIONS = ("-Xms512m", "-Xmx512m")
"""Of the broker that these figures are measured on: a heap that does not grow."""
LIMIT_S = 60.0
PRODUCERS_ONLY = ("java_peer",)  # its tool adds no send time for a reader
ACK, DELIVERY = "ack", "to the consumer"
TARGETS = {
    (f"{ACK}, p50", PEERS["confluent_peer"]): 1 / 1.3,
    (f"{ACK}, p99", PEERS["aiokafka_peer"]): 1.0,
    (f"{DELIVERY}, p99", PEERS["aiokafka_peer"]): 1.0,
    (f"{DELIVERY}, p50", PEERS["aiokafka_peer"]): 1.5,
    (f"{DELIVERY}, p50", PEERS["confluent_peer"]): 1 / 1.5,
}
CONDITIONS = (
    "{per_second:,} records a second of 100 bytes to one partition, acks=all, idempotent, linger 0 "
    "(AIOProducer: batch_size=1 and a task that polls; its defaults collect for a second), "
    "else defaults; {seconds:g} s a run, {rounds} rounds in alternate order; "
    "before them {warm_up_s:g} s of the same load warmed the broker up, by all clients in turn "
    "({uncounted} rounds that do not count); an Apache Kafka started here has its whole heap, "
    "512 MB, from the start; "
    "{cores}; Java tells whole ms and the ack only."
)


def measure(
    broker: str,
    bootstrap_servers: str,
    peers: Sequence[str],
    steps: Steps,
    *,
    rounds: int,
    seconds: float = RUN_S,
    per_second: int = PER_SECOND,
    warm_up_s: float = WARM_UP_S,
) -> Table:
    """Run every peer `rounds` times, and return p50 and p99 in milliseconds.

    The broker first has this load for `warm_up_s` or longer, by all peers in turn.
    """
    uncounted = uncounted_rounds(len(peers), seconds, warm_up_s)
    turns = in_turn(peers, uncounted + rounds)
    steps.expect(len(turns))
    load_s = uncounted * len(peers) * seconds
    steps.note(f"latency: all clients in turn warm the broker up for {load_s:g} s, uncounted")
    samples: list[tuple[str, str, float]] = []
    with divided_cores() as cores:
        for number, peer in enumerate(turns):
            is_counted = number >= uncounted * len(peers)
            steps.begin(f"latency{'' if is_counted else ', warm-up'}: {PEERS[peer]}")
            with topic(bootstrap_servers, fresh("latency"), 1) as name:
                job = Job(
                    bootstrap_servers,
                    name,
                    round(seconds * per_second),
                    warm_up=WARM_UP,
                    per_second=per_second,
                    group_id=fresh("group"),
                )
                taken = [
                    (row, PEERS[peer], taken_s * 1000) for row, taken_s in _quantiles(peer, job)
                ]
            samples += taken if is_counted else []
            steps.done()
    samples.sort(key=lambda sample: sample[0])
    return Table(
        f"latency-{broker.split(maxsplit=1)[0].lower()}",
        f"Latency on {broker}",
        "ms",
        CONDITIONS.format(
            per_second=per_second,
            seconds=seconds,
            rounds=rounds,
            warm_up_s=load_s,
            uncounted=uncounted,
            cores=cores,
        ),
        collect(samples),
        TARGETS,
    )


def uncounted_rounds(peers: int, seconds: float, warm_up_s: float) -> int:
    """Return how many rounds of `peers` runs give the broker `warm_up_s` of load; at least one."""
    return max(1, math.ceil(warm_up_s / (peers * seconds)))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the least value that is not below `share` of all."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _quantiles(peer: str, job: Job) -> Iterator[tuple[str, float]]:
    if peer in PRODUCERS_ONLY:
        with child_process(peer_command(peer, "paced", job), LIMIT_S) as producer:
            producer.expect("sending")
            told = producer.outcome().quantiles_s
        yield from ((f"{ACK}, {name}", told[name]) for name in ("p50", "p99"))
        return
    sent, received = _run(peer, job)
    if sent.failed:
        raise SystemExit(f"{PEERS[peer]}: {sent.failed} records were not acknowledged")
    acks_s = [acked_s - sent_s for sent_s, acked_s in sent.acks]
    for row, values in ((ACK, acks_s), (DELIVERY, received.delays_s)):
        yield f"{row}, p50", quantile(values, 0.5)
        yield f"{row}, p99", quantile(values, 0.99)


def _run(peer: str, job: Job) -> tuple[Outcome, Outcome]:
    with child_process(peer_command(peer, "paced_receive", job), LIMIT_S) as consumer:
        consumer.expect("ready")
        with child_process(peer_command(peer, "paced", job), LIMIT_S) as producer:
            producer.expect("sending")
            sent = producer.outcome()
        return sent, consumer.outcome()
