"""`aiokafka-lite info`: the parts of this installation, for bug reports."""

import typer

from aiokafka_lite.cli.command import Output
from aiokafka_lite.cli.installation import parts
from aiokafka_lite.cli.output import OutputFormat, show

app = typer.Typer(add_completion=False)


@app.command("info")
def info(output: Output = OutputFormat.TABLE) -> None:
    """Show versions, which parts are native here, and which libraries compress."""
    show(output, "This installation", ("part", "is"), parts())


__all__ = ["app", "info"]
