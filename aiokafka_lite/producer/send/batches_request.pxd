"""The C types of `batches_request.py`."""


cdef class ProduceTerms:
    cdef readonly object transactional_id
    cdef readonly object acks
    cdef readonly object timeout_ms
    cdef readonly bytes head


cdef class ProducedTopics:
    cdef readonly dict ids
    cdef readonly bint has_all_ids
    cdef dict _told
    cdef int _told_version

    cpdef dict told_in(self, int version)


cpdef list usual_parts(
    ProduceTerms terms, ProducedTopics topics, list batches, list wires, int version
)
cdef bytes _compact(text)
