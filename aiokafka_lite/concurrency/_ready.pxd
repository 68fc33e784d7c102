"""What other native leaves may call: a ready awaitable without the call of a Python function."""

cdef object ready_value(object value)
