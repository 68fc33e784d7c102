"""A short round of the admin calls with every client that has them."""

from benchmarks.clients import admin_calls
from benchmarks.processes.harness import PEERS
from benchmarks.report.progress import Steps


def test_every_client_tells_what_each_call_costs(address: str, steps: Steps) -> None:
    table = admin_calls.measure("here", address, list(PEERS), steps, rounds=1, scale=0.005)
    assert table.rows() == [
        "create 5 topics",
        "describe 5 topics",
        "delete 5 topics",
        "list 50 offsets",
    ]
    assert len(table.figures) == 4 * len(admin_calls.ADMIN_PEERS)
    assert all(figure.median > 0 for figure in table.figures)
