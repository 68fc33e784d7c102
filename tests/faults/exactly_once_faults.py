"""Plays accidents on services that copy a topic exactly once: one function per accident.

Each is played on a `CopyStage`: a topic that is written to all the time, and workers in processes
of their own. At the end the copy must equal the source. Another client reads it, under
read_committed.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.faults import producer_oracle as oracle
from tests.faults.exactly_once_worker import Orders
from tests.faults.group_faults import eventually
from tests.faults.producer_faults import PARTITIONS, Stage, Writer, read_log, stage
from tests.faults.worker_process import started
from tests.support.topics import connected, create_topic, delete_topic
from tests.support.unreliable_network import ProxiedKafka

GONE = -9
PATIENCE_S = 45.0
TRANSACTION_KEY = 1
WRITES_PER_WORKER = 3


@dataclass(eq=False)
class WorkerProcess:
    """A worker and its journal."""

    transactional_id: str
    process: asyncio.subprocess.Process
    journal: Path
    output: Path

    def lines(self) -> list[list[str]]:
        """Return the lines of the journal so far: moment, word, details."""
        if not self.journal.exists():
            return []
        whole = self.journal.read_text().rpartition("\n")[0]
        return [line.split(" ", 2) for line in whole.splitlines()]

    def last_word(self) -> str:
        """Return the word of the journal's last line."""
        lines = self.lines()
        return lines[-1][1] if lines else ""

    def commits_since(self, moment_s: float) -> list[float]:
        """Return the moments after `moment_s` at which its transactions were committed."""
        return [
            at_s
            for at, word, *_ in self.lines()
            if word == "committed" and (at_s := float(at)) > moment_s
        ]

    async def died(self) -> None:
        """Wait until the worker has killed itself."""
        async with asyncio.timeout(PATIENCE_S):
            status = await self.process.wait()
        assert status == GONE, f"ended with {status}:\n{self.output.read_text()[-3000:]}"
        assert self.last_word() == "written"

    async def leave(self) -> None:
        """Wait until the worker has stopped in order."""
        self.process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            status = await self.process.wait()
        assert status == 0, f"ended with {status}:\n{self.output.read_text()[-3000:]}"


@dataclass
class CopyStage:
    """A source that is written to all the time, its copy, and the workers that copy."""

    stage: Stage
    source: Writer
    target: str
    folder: Path
    workers: list[WorkerProcess] = field(default_factory=list)
    all_workers: list[WorkerProcess] = field(default_factory=list)
    aborted: int = 0
    """How many records of the copy's log belong to aborted transactions; set at the end."""
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def worker(self, transactional_id: str, dies_in_batch: int = 0) -> WorkerProcess:
        """Start a worker. Does not wait."""
        name = f"{transactional_id}-{next(self.numbers)}"
        orders = Orders(
            journal=str(self.folder / f"{name}.journal"),
            bootstrap_servers=self.stage.cluster.address,
            source=self.source.topic,
            target=self.target,
            group_id=self.target,
            transactional_id=f"{self.target}-{transactional_id}",
            dies_in_batch=dies_in_batch,
            is_on_uvloop=not isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop),
        )
        output = self.folder / f"{name}.output"
        process = await started("tests.faults.exactly_once_worker", orders, output)
        worker = WorkerProcess(orders.transactional_id, process, Path(orders.journal), output)
        self.all_workers.append(worker)
        if not dies_in_batch:
            self.workers.append(worker)
        return worker

    async def at_work(self) -> None:
        """Wait until each worker that shall live has committed another transaction."""
        since_s = SYSTEM_CLOCK.monotonic()
        await eventually(
            "all workers commit", lambda: all(each.commits_since(since_s) for each in self.workers)
        )

    async def coordinator(self, worker: WorkerProcess) -> int:
        """Return the node that coordinates a worker's transactions."""
        request = FindCoordinatorRequest(key=worker.transactional_id, key_type=TRANSACTION_KEY)
        async with connected(self.stage.cluster.address) as client:
            answer = await client.network.request_any(
                request, max_version=FindCoordinatorRequest.keys_since - 1
            )
        assert answer.error_code == 0
        return answer.node_id

    async def copied(self) -> None:
        """End the source, and wait until another client reads the same from source and copy."""
        self.source.end_soon()
        await asyncio.gather(*self.stage.tasks)
        address = self.stage.cluster.address
        source = await asyncio.to_thread(read_log, address, self.source.topic)
        count = sum(map(len, source.values()))
        copy: oracle.Log = {}
        began_s = SYSTEM_CLOCK.monotonic()
        while sum(map(len, copy.values())) < count:
            if SYSTEM_CLOCK.monotonic() - began_s > PATIENCE_S:
                break
            await asyncio.sleep(0.5)
            copy = await asyncio.to_thread(read_log, address, self.target)
        for worker in self.workers:
            await worker.leave()
        copy = await asyncio.to_thread(read_log, address, self.target)
        complaints = oracle.unlike_source(source, copy)
        assert not complaints, "\n".join([*complaints, self.told()])
        self.stage.tally += oracle.tally_of_copy(source, copy)
        everything = await asyncio.to_thread(read_log, address, self.target, "read_uncommitted")
        self.aborted = sum(map(len, everything.values())) - count
        self.stage.notes.append(f"{count} records copied, {self.aborted} more were aborted")
        self.measure()

    def measure(self) -> None:
        """Keep the longest time in which no worker ended a transaction."""
        moments = sorted(at_s for each in self.all_workers for at_s in each.commits_since(0.0))
        pauses = [later - earlier for earlier, later in itertools.pairwise(moments)]
        self.stage.figures["longest time without a commit"] = max(pauses)
        words = [line[1] for each in self.all_workers for line in each.lines()]
        self.stage.notes += [
            f"{words.count(word)} {word}" for word in ("committed", "aborted", "restarts")
        ]

    def told(self) -> str:
        """Return the workers' notes about anything but their ordinary work."""
        return "\n".join(
            f"{worker.journal.name}: {' '.join(line)}"
            for worker in self.all_workers
            for line in worker.lines()
            if line[1] not in {"written", "committed"}
        )


@asynccontextmanager
async def copy_stage(kafka: ProxiedKafka, topic: str, folder: Path) -> AsyncIterator[CopyStage]:
    """Provide a stage for one scenario, which calls `copied()` at its end. All workers end then."""
    target = f"{topic}-copy"
    async with stage(kafka, topic) as played:
        await create_topic(played.cluster.address, target, partitions=PARTITIONS)
        source = await played.writer("source")
        copying = CopyStage(played, source, target, folder)
        try:
            yield copying
        except Exception as error:
            error.add_note(copying.told())
            raise
        finally:
            for worker in copying.all_workers:
                if worker.process.returncode is None:
                    worker.process.kill()
                    await worker.process.wait()
    await delete_topic(kafka.bootstrap_servers, target)


CopyScenario = Callable[[CopyStage], Awaitable[None]]


async def client_killed(copying: CopyStage) -> None:
    """Kill two workers in a transaction, and start one of them again with its transactional id.

    The timeout of the other's transaction aborts it.
    """
    await copying.worker("stays")
    dying = await copying.worker("returns", dies_in_batch=WRITES_PER_WORKER)
    await dying.died()
    await copying.worker("returns")
    leaving = await copying.worker("goes", dies_in_batch=WRITES_PER_WORKER)
    await leaving.died()
    since_s = SYSTEM_CLOCK.monotonic()
    await copying.at_work()
    copying.stage.back_after("both commit again", SYSTEM_CLOCK.monotonic() - since_s)
    await copying.copied()
    assert copying.aborted > WRITES_PER_WORKER, "nobody died in mid transaction"


async def broker_killed(copying: CopyStage) -> None:
    """Kill (-9) the node that coordinates a worker's transactions, and start it again."""
    first = await copying.worker("first")
    await copying.worker("second")
    await copying.at_work()
    cluster = copying.stage.cluster
    node = cluster.node(await copying.coordinator(first))
    since_s = SYSTEM_CLOCK.monotonic()
    await cluster.kill([node])
    await copying.at_work()
    copying.stage.back_after("both commit again", SYSTEM_CLOCK.monotonic() - since_s)
    await cluster.heal()
    await copying.at_work()
    await copying.copied()


COPY_SCENARIOS: tuple[CopyScenario, ...] = (client_killed, broker_killed)
