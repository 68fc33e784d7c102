"""The C types of `answer_callback.py`."""


cdef class Answer:
    cdef bint _is_done

    cpdef answered(self, response, error)
    cpdef object write_usual(self, int version)
    cpdef object read_usual(self, frame, int version)
    cpdef bint done(self)
    cpdef give(self, response)


cdef class AnswerCallback(Answer):
    cdef object _on_answer
