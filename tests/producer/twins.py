"""The leaves of the producer as one of their twins, whatever this process has chosen: what is built
upon them (`ProducerBatch`, `StickyPartition`, …) is imported anew for the other one.
"""

import functools
import importlib
import os
import sys
from types import ModuleType, SimpleNamespace
from unittest import mock

import pytest

from aiokafka_lite.native import TYPED, SourceFinder
from tests.producer.batches import make_batch
from tests.support.twins import native_twin, not_built

_LEAVES = (
    "record._batch_builder",
    "producer.batch._record_ack",
    "producer.accumulator._fast_append",
    "producer.send._produce_bytes",
)
_BUILT_UPON = (
    "record.batch_builder",
    "record._batch_builder_py",
    "producer.batch.record_ack",
    "producer.batch._record_ack_py",
    "producer.accumulator.fast_append",
    "producer.accumulator._fast_append_py",
    "producer.batch.producer_batch",
    "producer.batch.buffer_pool",
    "producer.partition.partitioner",
    "producer.partition.partition_loads",
    "producer.accumulator.sequence_numbers",
    "producer.accumulator.partition_queue",
    "producer.accumulator.batch_sizes",
    "producer.accumulator.incomplete_batches",
    "producer.batch.batch_split",
    "producer.accumulator.record_accumulator",
    "producer.partition.topic_routes",
    "producer.append.bulk_ack",
    "producer.batch.batch_wait",
    "producer.send.produce_bytes",
    "producer.send._produce_bytes_py",
)


@functools.cache
def _modules(kind: str) -> dict[str, ModuleType]:
    names = [f"aiokafka_lite.{name}" for name in _BUILT_UPON]
    before = {name: importlib.import_module(name) for name in names}
    for name in names:
        del sys.modules[name]
    try:
        is_pure = kind == "pure"
        finders = [each for each in sys.meta_path if each is not SourceFinder]
        with (
            mock.patch.dict(os.environ, {"AIOKAFKA_LITE_PURE": "1" if is_pure else "0"}),
            mock.patch.object(sys, "meta_path", [*[SourceFinder] * is_pure, *finders]),
        ):
            return {name: importlib.import_module(name) for name in names}
    finally:
        sys.modules.update(before)
        for name, module in before.items():
            package, _, stem = name.rpartition(".")
            setattr(sys.modules[package], stem, module)


def producer_twin(kind: str) -> SimpleNamespace:
    """Return the public names of the modules above on their "pure" or their "native" leaves."""
    if kind == "native":
        for leaf in _LEAVES:
            native_twin(f"aiokafka_lite.{leaf}")
        for name, module in _modules(kind).items():
            if name in TYPED and str(module.__file__).endswith(".py"):
                not_built(name)
    names: dict[str, object] = {}
    for name, module in _modules(kind).items():
        if not name.endswith("_py"):
            names.update({each: getattr(module, each) for each in module.__all__})
    return SimpleNamespace(**names)


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest) -> SimpleNamespace:
    """Each of the twins; `make_batch` as in `tests.producer.batches`."""
    names = producer_twin(request.param)
    names.make_batch = functools.partial(make_batch, twin=names)
    return names
