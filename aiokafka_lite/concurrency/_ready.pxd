"""What other native leaves may call, without the cost of a Python function."""

cdef object ready_value(object value)
