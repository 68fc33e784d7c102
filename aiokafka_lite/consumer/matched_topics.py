"""Owns which topics a subscription by pattern may take. Does not wait.

A topic that one metadata answer leaves out is still in the snapshot (`metadata.absences`).
"""

from collections.abc import Collection

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot


def present_topics(
    snapshot: MetadataSnapshot, subscribed: Collection[str], *, exclude_internal: bool
) -> list[str]:
    """Return the topics there are, whether or not they match.

    A topic of `subscribed` stays while its error may pass (KafkaError.retriable). Others come once
    they are described without an error.
    """
    return [
        name
        for name, topic in snapshot.topics.items()
        if (
            topic.error.retriable and name in subscribed
            if topic.error is not None
            else not (topic.is_internal and exclude_internal)
        )
    ]


__all__ = ["present_topics"]
