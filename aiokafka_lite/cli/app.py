"""Assembles the commands of `aiokafka-lite`: demo, broker, produce, consume, topics, info."""

import typer

from aiokafka_lite.cli import broker, consume, demo_command, info, produce, topics

app = typer.Typer(
    name="aiokafka-lite",
    help="Apache Kafka from the command line: produce, consume, topics, a broker, a demo.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo_command.demo)
app.command("broker")(broker.broker)
app.command("produce")(produce.produce)
app.command("consume")(consume.consume)
app.command("info")(info.info)
app.add_typer(topics.app, name="topics")


__all__ = ["app"]
