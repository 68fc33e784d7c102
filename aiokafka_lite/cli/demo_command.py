"""`aiokafka-lite demo`: chooses data set and broker, runs the main job, shows the result."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from aiokafka_lite.cli import flights_dataset
from aiokafka_lite.cli.command import Output, run
from aiokafka_lite.cli.demo import DemoResult, run_demo
from aiokafka_lite.cli.flights_dataset import Dataset, DatasetError
from aiokafka_lite.cli.output import OutputFormat, TwoBars, complain, show
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.kafka_error import reason_of

TOP_KEYS = 12
MOST_PROBLEMS = 10


app = typer.Typer(add_completion=False)


@app.command("demo")
def demo(
    broker: Annotated[
        str,
        typer.Option(
            "--broker", help="embedded, apache (a real Kafka, started here), or HOST:PORT."
        ),
    ] = "embedded",
    file: Annotated[
        Path | None, typer.Option("--file", help="A CSV or JSON lines file instead of the flights.")
    ] = None,
    key: Annotated[
        str, typer.Option("--key", help="The column to key by, e.g. carrier or tailnum.")
    ] = "carrier",
    partitions: Annotated[int, typer.Option("--partitions", min=1)] = 4,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Send only the first rows.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Send a real data set out and read it back: every record, in order per key."""
    try:
        dataset = flights_dataset.from_file(file, key) if file else flights_dataset.flights(key)
        with running_broker(broker) as bootstrap_servers:
            result = _run(bootstrap_servers, dataset, partitions, limit)
    except (DatasetError, KafkaError) as error:
        complain(reason_of(error))
        raise typer.Exit(1) from error
    _report(result, broker, output)


def _run(
    bootstrap_servers: str, dataset: Dataset, partitions: int, limit: int | None
) -> DemoResult:
    total = min(dataset.rows, limit) if dataset.rows and limit else dataset.rows or limit
    rows = dataset.records(limit)
    with TwoBars(total) as bars:
        return run(run_demo(bootstrap_servers, rows, partitions=partitions, progress=bars))


@contextmanager
def running_broker(broker: str) -> Iterator[str]:
    """Yield the address of a broker: `embedded` and `apache` are started here; or HOST:PORT."""
    if broker == "embedded":
        from aiokafka_lite.testing.broker import EmbeddedBroker  # noqa: PLC0415 - rarely

        with EmbeddedBroker.threaded() as embedded:
            yield embedded.bootstrap_servers
    elif broker == "apache":
        from aiokafka_lite.testing.apache_kafka import ApacheKafka  # noqa: PLC0415 - rarely

        with ApacheKafka() as kafka:
            yield kafka.bootstrap_servers
    else:
        yield broker


def _report(result: DemoResult, broker: str, output: OutputFormat) -> None:
    problems = result.problems()
    ranked = sorted(result.received.items(), key=lambda item: -item[1].records)
    rows = [
        (key.decode(errors="replace"), ledger.records, ledger.value_bytes,
         " ".join(map(str, sorted(ledger.partitions))))
        for key, ledger in ranked[:TOP_KEYS]
    ]  # fmt: skip
    title = f"{len(ranked)} keys, the {len(rows)} with most records"
    show(output, title, ("key", "records", "bytes", "partition"), rows)
    mebibytes = result.value_bytes / 2**20
    typer.echo(
        f"{result.records:,} records, {mebibytes:.1f} MiB of values, on {broker}: produced in "
        f"{result.produce_s:.1f} s ({result.records / result.produce_s:,.0f}/s), out and back in "
        f"{result.total_s:.1f} s ({result.records / result.total_s:,.0f}/s, "
        f"{mebibytes / result.total_s:.1f} MiB/s)",
        err=output is OutputFormat.JSON,
    )
    for problem in problems[:MOST_PROBLEMS]:
        complain(problem)
    if problems:
        complain(f"{len(problems)} keys did not come back as they were sent")
        raise typer.Exit(1)
    typer.echo(
        "every record came back, in order for each key, nothing lost and nothing twice",
        err=output is OutputFormat.JSON,
    )


__all__ = ["app", "demo", "running_broker"]
