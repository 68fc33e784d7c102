"""The arithmetic of ratios and targets, on figures written by hand."""

from benchmarks.report.results import (
    OURS,
    Figure,
    Table,
    as_markdown,
    as_text,
    as_values,
    collect,
    number,
)

TABLE = Table(
    "t",
    "Title",
    "µs",
    "conditions",
    [
        Figure("send", "peer", [10.0, 8.0, 30.0]),
        Figure("send", OURS, [2.0, 1.0, 4.0]),
        Figure("read", "peer", [1.0]),
        Figure("read", OURS, [2.0]),
        Figure("alone", "peer", [1.0]),
    ],
    targets={("send", "peer"): 5.0, ("read", "peer"): 2.0, ("alone", "peer"): 1.0},
    limits={"read": 1.5},
)


def test_ratio_is_of_the_medians_and_the_worst_case_of_their_best_to_our_worst() -> None:
    line = next(line for line in TABLE.lines() if line.ratio is not None)
    assert (line.ratio, line.worst_ratio) == (5.0, 2.0)


def test_target_is_met_or_missed_by_the_median() -> None:
    assert [(line.figure.row, line.figure.client, line.is_met) for line in TABLE.lines()] == [
        ("send", OURS, None),
        ("send", "peer", True),
        ("read", OURS, False),
        ("read", "peer", False),
        ("alone", "peer", None),
    ]


def test_ours_comes_first_in_each_row() -> None:
    assert TABLE.lines()[0].figure.client == OURS


def test_text_and_markdown_say_what_was_missed() -> None:
    assert as_text(TABLE).count("MISSED") == as_markdown(TABLE).count("✗") == 2
    assert "10.0 (8-30.0)" in as_text(TABLE)


def test_columns_nobody_uses_are_left_out() -> None:
    assert "note" not in as_text(TABLE)


def test_markdown_has_a_line_per_row_and_a_column_per_client() -> None:
    lines = as_markdown(TABLE).splitlines()
    assert lines[2] == f"|  | {OURS}, µs | peer |"
    assert lines[4] == "| send | 2 (1-4) | 5x (2x), ≥ 5 ✓ |"
    assert lines[6] == "| alone |  | 1 |"


def test_values_for_json_have_every_sample() -> None:
    assert as_values(TABLE)["lines"][1]["samples"] == [10.0, 8.0, 30.0]


def test_samples_of_a_row_and_client_are_collected_in_order() -> None:
    figures = collect([("a", "x", 1.0), ("b", "x", 2.0), ("a", "x", 3.0)])
    assert [(f.row, list(f.samples)) for f in figures] == [("a", [1.0, 3.0]), ("b", [2.0])]


def test_numbers_have_three_digits_that_mean_something() -> None:
    assert [number(x) for x in (0.12345, 1.2345, 12.345, 123.45, 12345.6, 5.0)] == [
        "0.123",
        "1.23",
        "12.3",
        "123",
        "12,346",
        "5",
    ]
