"""Numbers in the byte order of the wire, for the leaves that write and read whole messages."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef inline char *put_int32(char *at, uint32_t number) noexcept:
    """Write a number; return where the next byte goes."""
    at[0] = <char>(number >> 24)
    at[1] = <char>(number >> 16 & 0xFF)
    at[2] = <char>(number >> 8 & 0xFF)
    at[3] = <char>(number & 0xFF)
    return at + 4


cdef inline char *put_int64(char *at, uint64_t number) noexcept:
    """Write a number; return where the next byte goes."""
    return put_int32(put_int32(at, <uint32_t>(number >> 32)), <uint32_t>number)


cdef inline uint64_t big_endian(const uint8_t *at, int size) noexcept:
    """Read a number of `size` bytes, 8 at most."""
    cdef uint64_t number = 0
    cdef int place
    for place in range(size):
        number = number << 8 | at[place]
    return number
