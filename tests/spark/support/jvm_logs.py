"""What Spark's JVM writes while a block runs: its event log and its own log, as one text."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LEVELS = {"org.apache.spark": "INFO", "org.apache.spark.sql.catalyst.rules": "TRACE"}
"""The rules log each change of a plan; that is where Spark shows options."""


@contextmanager
def written_by_spark(spark: Any, folder: Path) -> Iterator[Path]:
    """Lend the folder that has the logs when the block has ended."""
    context, jvm = spark.sparkContext._jsc.sc(), spark._jvm
    folder.mkdir()
    no_attempt = jvm.scala.Option.apply(None)
    conf = context.conf().clone().set("spark.eventLog.compress", "false")
    events = jvm.org.apache.spark.scheduler.EventLoggingListener(
        *("app", no_attempt, jvm.java.net.URI(folder.as_uri()), conf),
        context.hadoopConfiguration(),
    )
    events.start()
    context.addSparkListener(events)
    try:
        with _log_file(jvm, folder / "spark.log"):
            yield folder
            context.listenerBus().waitUntilEmpty()
    finally:
        context.removeSparkListener(events)
        events.stop()


@contextmanager
def _log_file(jvm: Any, path: Path) -> Iterator[None]:
    log4j = jvm.org.apache.logging.log4j
    core = log4j.core
    logs = log4j.LogManager.getContext(False)
    configuration = logs.getConfiguration()
    builder = core.appender.FileAppender.newBuilder()
    builder.withFileName(str(path)).setName("written_by_spark")
    appender = builder.setLayout(core.layout.PatternLayout.createDefaultLayout()).build()
    appender.start()
    for name, level in LEVELS.items():
        logger = core.config.LoggerConfig(name, log4j.Level.toLevel(level), False)
        logger.addAppender(appender, None, None)
        configuration.addLogger(name, logger)
    logs.updateLoggers()
    try:
        yield
    finally:
        for name in LEVELS:
            configuration.removeLogger(name)
        logs.updateLoggers()
        appender.stop()


def text_of(folder: Path) -> str:
    """Everything in the files of a folder, as one text."""
    files = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    return "\n".join(each.read_text(errors="replace") for each in files)
