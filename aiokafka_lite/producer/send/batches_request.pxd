"""The C types of `batches_request.py`."""


cpdef dict topics_told(topic_ids, int version)
cdef bytes _compact(text)
