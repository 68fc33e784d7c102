"""Each example of docs/schemas.md runs on an embedded broker, with a registry of its own."""

import ast
from inspect import isawaitable

import pytest

from aiokafka_lite.schema_registry.schema_serializer import SchemaSerializer
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer
from tests.support.documents import SCHEMAS, python_blocks

SHOWN = ("'item': 'tea'", "against the rule 'minimum': 1", "tea", "404", "0", "orders-value")
"""What each example prints, in their order."""
EXAMPLES = list(zip(python_blocks(SCHEMAS), SHOWN, strict=True))


@pytest.mark.asyncio(loop_factories=["asyncio"])  # the examples have nothing to do with the loop
@pytest.mark.parametrize(("block", "shown"), EXAMPLES, ids=range(len(EXAMPLES)))
async def test_each_example_runs(
    block: str, shown: str, server: SchemaRegistryServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async with EmbeddedBroker() as broker:
        source = block.replace("localhost:9092", broker.bootstrap_servers)
        source = source.replace("http://localhost:8081", server.url)
        code = compile(source, SCHEMAS.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        ended = eval(code, {"__name__": "__main__"})
        if isawaitable(ended):
            await ended
    assert shown in capsys.readouterr().out


def test_the_page_names_each_argument_of_a_serializer() -> None:
    named = SchemaSerializer.__init__.__kwdefaults__ or {}
    text = SCHEMAS.read_text()
    assert [name for name in named if f"| `{name}` |" not in text] == []
