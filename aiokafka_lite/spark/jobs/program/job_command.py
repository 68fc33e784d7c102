"""The command line of the jobs, on typer: JOB, the place of its configuration, and the action."""

from pathlib import Path
from typing import Annotated

import typer

from aiokafka_lite.spark.jobs.job_registry import JOBS
from aiokafka_lite.spark.jobs.program.job_run import EXIT_MISUSE, run_program
from aiokafka_lite.spark.jobs.program.prepare import PREPARE, prepare

_JOBS = "\n".join(f"* {name}: {does}" for name, does in JOBS.items())

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown")


@app.command(
    help=f"Run a job between Kafka topics and tables, on Spark.\n\nJobs:\n\n{_JOBS}"
    f"\n\n`{PREPARE}` is no job: it adds byte code to the zips of PySpark, once.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage. SIGTERM ends a job after its batch.",
)
def command(
    job: Annotated[str, typer.Argument(help=f"The job, one of those above, or {PREPARE}.")],
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="A TOML file with the job's keys.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A key that overrides the file, or replaces it."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print plan and offsets; change nothing.")
    ] = False,
) -> None:
    if job == PREPARE:
        if config is not None or settings or dry_run:
            typer.echo(f"{PREPARE} takes no options: leave them out", err=True)
            raise typer.Exit(EXIT_MISUSE)
        raise typer.Exit(prepare())
    raise typer.Exit(run_program(job, config, settings or (), dry_run=dry_run))


__all__ = ["app", "command"]
