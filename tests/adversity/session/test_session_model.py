"""The model of exactly-once sessions complains of what it should, and of nothing else."""

import pytest

from tests.adversity.session.session_model import Image, SessionModel


@pytest.fixture(name="model")
def _model() -> SessionModel:
    """Two partitions with three records each."""
    model = SessionModel(lambda: 0.0)
    model.wrote(0, 3)
    model.wrote(1, 3)
    return model


def test_the_beginnings_of_the_input_are_right_wherever_the_group_stands_behind_them(
    model: SessionModel,
) -> None:
    model.seen([], {}, is_settled=True)
    model.seen([(0, 0), (1, 0), (0, 1)], {0: 2, 1: 1}, is_settled=True)
    assert not model.complaints
    assert not model.is_done()
    model.seen([(0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (1, 2)], {0: 3, 1: 3}, is_settled=True)
    assert not model.complaints
    assert model.is_done()


@pytest.mark.parametrize(
    ("images", "complaint"),
    [
        ([(0, 0), (0, 2)], "in-0@2 counts, and @1 does not"),
        ([(0, 1), (0, 0)], "in-0@1 counts, and @0 does not"),
        ([(0, 0), (1, 0), (0, 0)], "in-0@0 counts again; @1 is next"),
    ],
)
def test_what_is_left_out_repeated_or_out_of_order_is_wrong(
    model: SessionModel, images: list[Image], complaint: str
) -> None:
    model.seen(images, {}, is_settled=False)
    assert model.complaints == [complaint]


@pytest.mark.parametrize("stands", [1, 3])
def test_the_group_stands_behind_what_counts_when_no_transaction_is_open(
    model: SessionModel, stands: int
) -> None:
    images = [(0, 0), (0, 1)]
    model.seen(images, {0: stands}, is_settled=False)
    assert not model.complaints
    model.seen(images, {0: stands}, is_settled=True)
    assert model.complaints == [f"in-0@{stands} is committed, and @2 is copied"]
