"""What compiled code may use of the records decoded ahead, and of the place of a fetch."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uintptr_t


cdef class FetchPlace:
    cdef public int64_t next_offset


cdef class DecodedRecords:
    cdef list records
    cdef object revision, seen, fetch, state, decode_on
    # The addresses of the revision and of the two positions, inside the objects above.
    cdef PyObject **revision_number
    cdef int64_t *fetch_offset
    cdef PyObject **state_offset
    cdef uintptr_t thread_id
    cdef readonly int64_t handed_out  # how many records `take` has returned since this was made
