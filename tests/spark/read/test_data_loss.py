"""Records that are gone are an error that says what to do, or a warning."""

import logging

import pytest

from aiokafka_lite.spark.read.data_loss import DataLossError, report_losses


def test_nothing_lost_is_nothing_said(caplog: pytest.LogCaptureFixture) -> None:
    report_losses([], fail=True)
    assert not caplog.records


def test_all_losses_are_in_one_error_with_the_remedy() -> None:
    with pytest.raises(DataLossError, match=r"a lost; b lost.*aged out.*failOnDataLoss to false"):
        report_losses(["a lost", "b lost"], fail=True)


def test_without_failing_each_loss_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        report_losses(["a lost", "b lost"], fail=False)
    assert [record.getMessage()[:6] for record in caplog.records] == ["a lost", "b lost"]
