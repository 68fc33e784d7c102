"""The dashboard for Grafana shows all metrics, with the names and labels that are exported."""

import json
import re
from itertools import combinations
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from aiokafka_lite.observe.prometheus import PrometheusMetrics
from aiokafka_lite.observe.standard_set import STANDARD_SET, Metric
from tests.support.documents import OBSERVABILITY, ROOT

DASHBOARD: dict[str, Any] = json.loads((ROOT / "examples" / "grafana_dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
TARGETS = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]
VARIABLES = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
SELECTOR = re.compile(r"\b(kafka_\w+)\{([^}]*)\}")


def samples_of(metric: Metric) -> set[str]:
    """The names under which Prometheus keeps a metric."""
    if metric.kind == "histogram":
        return {f"{metric.name}_{part}" for part in ("bucket", "sum", "count")}
    return {metric.name}


SAMPLES = {sample: metric for metric in STANDARD_SET for sample in samples_of(metric)}


def labels_of(sample: str) -> set[str]:
    """The labels of a sample."""
    of_bucket = {"le"} if sample.endswith("_bucket") else set()
    return {"client_id", *SAMPLES[sample].labels} | of_bucket


def test_the_collector_exports_these_names() -> None:
    families = {family.name: family for family in PrometheusMetrics(CollectorRegistry()).describe()}
    for metric in STANDARD_SET:
        family = families.pop(metric.name.removesuffix("_total"))
        assert family.type == metric.kind
    assert not families


@pytest.mark.parametrize(("title", "target"), TARGETS)
def test_a_panel_asks_for_what_is_exported(title: str, target: dict[str, str]) -> None:
    asked = SELECTOR.findall(target["expr"])
    assert [name for name, _ in asked] == re.findall(r"\bkafka_\w+", target["expr"]), title
    by = {
        each
        for found in re.findall(r"by \(([^)]*)\)", target["expr"])
        for each in found.split(", ")
    }
    for sample, selector in asked:
        assert sample in SAMPLES, title
        matched = dict(re.findall(r'(\w+)[!=]=?~?"([^"]*)"', selector))
        assert by | matched.keys() <= labels_of(sample), title
        assert {
            value[1:] for value in matched.values() if value.startswith("$")
        } <= VARIABLES.keys()
        assert matched["client_id"] == "$client_id", title
        assert ("group" in matched) == ("group" in labels_of(sample)), title
    assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) == by - {"le"}, title


@pytest.mark.parametrize(("title", "target"), TARGETS)
def test_counters_are_shown_as_rates_and_gauges_are_not(title: str, target: dict[str, str]) -> None:
    for before, name in re.findall(r"(\w*)\(?(?<=\()(kafka_\w+)\{", target["expr"]):
        is_gauge = SAMPLES[name].kind == "gauge"
        assert (before not in ("rate", "increase")) == is_gauge, f"{title}: {name}"
    assert ("histogram_quantile" in target["expr"]) == ("_bucket{" in target["expr"])


def test_the_dashboard_shows_the_whole_standard_set() -> None:
    shown = {
        SAMPLES[name].name for _, target in TARGETS for name, _ in SELECTOR.findall(target["expr"])
    }
    assert shown == {metric.name for metric in STANDARD_SET}


def test_the_formulas_of_the_page_ask_for_what_is_exported() -> None:
    formulas = re.findall(r"^\| [^|`]+ \| `([^`]+)` \|$", OBSERVABILITY.read_text(), re.MULTILINE)
    asked = [name for formula in formulas for name in re.findall(r"\bkafka_\w+", formula)]
    assert len(asked) >= len(formulas) > 4
    assert set(asked) <= SAMPLES.keys()


@pytest.mark.parametrize("name", ["client_id", "group"])
def test_a_variable_takes_its_values_from_an_exported_label(name: str) -> None:
    query = VARIABLES[name]["query"]["query"]
    (found,) = re.findall(r"^label_values\((\w+), (\w+)\)$", query)
    assert found[1] == name
    assert name in labels_of(found[0])


def test_panels_have_a_unit_and_a_place_of_their_own() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["title"]) for panel in PANELS}) >= len(PANELS) - 2, (
        "Records and Bytes, twice"
    )
    assert all(panel["fieldConfig"]["defaults"]["unit"] for panel in PANELS)
    for one, other in combinations((panel["gridPos"] for panel in panels), 2):
        apart_x = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart_y = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert apart_x or apart_y
        assert one["x"] + one["w"] <= 24
