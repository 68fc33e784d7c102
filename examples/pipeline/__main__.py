"""A year of flights through Kafka, Spark and Kafka again, checked against the file they came from.

    python -m examples.pipeline                     on an embedded broker, a minute
    python -m examples.pipeline --broker apache     on a real Kafka, which it starts
    python -m examples.pipeline --flights 30000 --plot departures.png

Exit codes: 0 the result is right, 1 it is not or something failed, 2 wrong usage.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from rich.console import Console

from aiokafka_lite.cli.command import leaves
from aiokafka_lite.cli.demo_command import running_broker
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.spark.jobs.job import reason
from aiokafka_lite.spark.jobs.program.job_session import session
from examples.pipeline import flight_stream
from examples.pipeline.departures import Flight, counted, flights_in_order
from examples.pipeline.pipeline import PipelineResult, run_pipeline
from examples.pipeline.report import Bars, draw, show_worst_days

MOST_PROBLEMS = 10


def main(arguments: list[str] | None = None) -> int:
    """Run the pipeline, show the result, and return the exit code."""
    options = _options(arguments)
    try:
        flights = flights_in_order(options.flights)
        with running_broker(options.broker) as servers:
            started = SYSTEM_CLOCK.monotonic()
            result = _run(servers, flights, options.partitions)
            seconds = SYSTEM_CLOCK.monotonic() - started
    except Exception as error:  # noqa: BLE001 - any error is reported, and ends it
        errors = leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
        print("error:", "; ".join(map(reason, errors)), file=sys.stderr)
        return 1
    show_worst_days(result.received)
    if options.plot is not None:
        draw(result.received, options.plot)
    repeated = f", {result.repeated} of them repeated" if result.repeated else ""
    Console().print(
        f"{len(flights):,} flights became {len(result.received):,} results{repeated}, in"
        f" {result.stream.batches} batches of Spark on {options.broker}, in {seconds:.1f} s with"
        " Spark's start",
        highlight=False,
    )
    return _verdict(result)


def _run(servers: str, flights: list[Flight], partitions: int) -> PipelineResult:
    with (
        session("flights", flight_stream.SESSION) as spark,
        Bars(len(flights), len(counted(flights))) as bars,
    ):
        work = run_pipeline(spark, servers, flights, partitions=partitions, progress=bars)
        return asyncio.run(work)


def _verdict(result: PipelineResult) -> int:
    problems = result.problems()
    for problem in problems[:MOST_PROBLEMS]:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        print(f"error: {len(problems)} differences", file=sys.stderr)
        return 1
    print("every result equals the one computed from the file")
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m examples.pipeline",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--broker", default="embedded", help="embedded, apache, or HOST:PORT")
    parser.add_argument(
        "--flights", type=_positive, metavar="N", help="only the first N of the file"
    )
    parser.add_argument("--partitions", type=_positive, default=4, help="of either topic")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture; needs matplotlib")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


if __name__ == "__main__":
    sys.exit(main())
