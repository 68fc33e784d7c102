from aiokafka_lite.schema.encode_faults import find_fault, unencodable
from tests.schema.declared import Everything, Inner


def test_no_fault_in_a_message_that_fits() -> None:
    assert find_fault(Everything(), 3) is None
    assert find_fault(Everything(maybe_inner=None, inners=None, batches=None), 3) is None


def test_fields_the_version_lacks_are_not_looked_at() -> None:
    assert find_fault(Everything(no_longer="wrong"), 3) is None  # type: ignore[arg-type]
    assert find_fault(Everything(no_longer="wrong"), 1) is not None  # type: ignore[arg-type]


def test_the_path_leads_through_structs_and_lists() -> None:
    message = Everything(inners=[Inner(), Inner(number=1 << 40)])
    assert find_fault(message, 3) == "inners[1].number must be of type int32, not 1099511627776"


def test_of_a_wrong_value_the_type_and_the_size_are_told() -> None:
    fault = find_fault(Everything(id="x" * 500), 3)  # type: ignore[arg-type]
    assert fault is not None
    assert fault.endswith("<str, 500 long>")


def test_the_cause_is_told_when_no_field_is_at_fault() -> None:
    error = unencodable(Everything(), "Everything v3", 3, ValueError("something else"))
    assert str(error) == "Everything v3 cannot be encoded: ValueError: something else"
