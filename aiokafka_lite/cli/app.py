"""Assembles the commands of `aiokafka-lite`. A command is imported when it is called.

`--help` and the completion of names need only this table: no client and no broker is imported.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, Final

import typer
import typer.core
import typer.main

from aiokafka_lite.version import __version__

COMMANDS: Final = {
    "demo": ("demo_command", "Send a data set through a broker and count it on the other side."),
    "broker": ("broker", "Run an in-memory Kafka broker for development."),
    "produce": ("produce", "Send each line of stdin or of files as a record."),
    "consume": ("consume", "Print the records of topics."),
    "info": ("info", "Show versions, native parts and codecs of this installation."),
    "acls": ("acls", "List, add and remove access rules (ACLs)."),
    "cluster": ("cluster", "Show brokers, features and the quorum; show and alter settings."),
    "groups": ("groups", "List, describe and delete groups; show lag; reset offsets."),
    "reassignments": ("reassignments", "Show the replicas that are moving to other brokers."),
    "topics": ("topics", "List, describe, create, alter and delete topics; look up offsets."),
    "transactions": ("transactions", "List and describe transactions; abort those that hang."),
    "users": ("users", "List users with SCRAM passwords; set and delete these."),
}
"""Name of a command: (its module in this folder, a line for `--help`). The module has `app`."""


_WrongUsage: Any = typer.BadParameter.__base__
"""`UsageError`, of click or of the copy that typer has."""


class _CommandOnDemand(typer.core.TyperCommand):
    """Stands for a command until it is called; its module is imported then."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._module = module

    def make_context(self, *given: Any, **named: Any) -> Any:
        module = import_module(f"aiokafka_lite.cli.{self._module}")
        return typer.main.get_command(module.app).make_context(*given, **named)


class _Commands(typer.core.TyperGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, (module, summary) in COMMANDS.items():
            self.add_command(_CommandOnDemand(name, module, summary))

    def make_context(self, *given: Any, **named: Any) -> Any:
        with _usage_in_one_line():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named. An error ends it in one line, whichever part raised."""
        # Imported here: --help and completion need neither asyncio nor a client.
        from aiokafka_lite.cli.command import exit_codes  # noqa: PLC0415
        from aiokafka_lite.cli.output import flushed_stdout  # noqa: PLC0415

        with _usage_in_one_line(), exit_codes(), flushed_stdout():
            return super().invoke(ctx)


@contextmanager
def _usage_in_one_line() -> Iterator[None]:
    """Turn wrong usage into one line on stderr and exit code 2.

    typer draws a frame around the text, and breaks it where the terminal ends.
    """
    try:
        yield
    except _WrongUsage as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # typer prints the help
            raise
        from aiokafka_lite.cli.output import complain  # noqa: PLC0415 - as above

        text = error.format_message()
        complain(f"{text.rstrip('.')} (see {error.ctx.command_path} -h)" if error.ctx else text)
        raise typer.Exit(error.exit_code) from error


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aiokafka-lite {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="aiokafka-lite",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Apache Kafka from the command line: produce, consume, topics, groups, a broker, a demo."""


__all__ = ["COMMANDS", "app", "main"]
