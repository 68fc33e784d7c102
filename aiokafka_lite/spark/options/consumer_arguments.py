"""The arguments of a consumer that reads for Spark. Does not wait."""

from aiokafka_lite.spark.options.source_options import SourceOptions


def consumer_arguments(options: SourceOptions) -> dict[str, object]:
    """Return the arguments of a consumer that reads assigned ranges only.

    Unless the user sets it, a fetch returns about one batch for Spark.
    """
    return {
        "max_partition_fetch_bytes": options.max_batch_bytes,
        **options.client,
        "auto_offset_reset": "none",
        "allow_auto_create_topics": False,
    }


__all__ = ["consumer_arguments"]
