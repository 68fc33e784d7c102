"""The page docs/options.md is made from the declarations of the options."""

import dataclasses

from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from tests.support.documents import README, ROOT
from tools.write_options import files

PAGE = ROOT / "docs" / "options.md"


def test_the_page_is_what_make_options_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == files()["docs/options.md"], "run `make options`"


def test_the_page_has_each_option_with_all_columns() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    named = {row[0].strip("| `") for row in rows if row[0].startswith("| `")}
    assert named == {
        field.name
        for config in (ConsumerConfig, ShareConsumerConfig, ProducerConfig, BrokerOptions)
        for field in dataclasses.fields(config)
        if field.init
    }
    assert {len(row) for row in rows if row[0].startswith("| `")} == {6, 7}


def test_the_readme_leads_to_the_page() -> None:
    assert "](docs/options.md)" in README.read_text(encoding="utf-8")
