# distutils: language = c++
"""Integers of a Parquet page, written as runs of equal integers and runs of packed bits. Twin: tests/naive/runs.py."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

__all__ = ["count_runs"]


def count_runs(
    const uint8_t[::1] content,  # IN  the runs, to their last byte
    int width,                   # IN  the bits of an integer
    int64_t count,               # IN  how many integers there must be
    int64_t[::1] uses,           # OUT how often each integer occurs is added here; None: not counted
) -> int:
    """Read runs to their last byte; return the sum of the integers if their uses are not counted, else 0.

    Raises:
        ValueError: There are other bytes than runs, or an integer without a place in `uses`.
    """
    cdef int64_t at = 0, read = 0, head, length, end, n_uses = -1
    cdef int shift, byte, n_bits, size = (width + 7) // 8
    cdef uint64_t number, total = 0, buffered, mask
    if width < 0 or width > 32:
        raise ValueError("integers that are too wide")
    if uses is not None:
        n_uses = uses.shape[0]
    mask = (<uint64_t>1 << width) - 1
    while read < count:
        head = shift = 0
        while True:
            if at >= content.shape[0] or shift > 35:
                raise ValueError("a run that is too long")
            byte = content[at]
            head |= <int64_t>(byte & 127) << shift
            at += 1
            shift += 7
            if byte < 128:
                break
        if head & 1 and width:
            # The last run may be cut short, or filled up to a multiple of eight integers.
            end = min(<int64_t>content.shape[0], at + (head >> 1) * width)
            if (end - at) * 8 // width == 0 or (end - at) * 8 // width > count - read + 7:
                raise ValueError("bits that are not values")
            buffered = n_bits = 0
            while at < end:
                buffered |= <uint64_t>content[at] << n_bits
                at += 1
                n_bits += 8
                while n_bits >= width:
                    number = buffered & mask
                    buffered >>= width
                    n_bits -= width
                    if number >= <uint64_t>n_uses if n_uses >= 0 else read >= count and number:
                        raise ValueError("bits that are not values")
                    if read < count:
                        read += 1
                        total += number
                        if n_uses >= 0:
                            uses[number] += 1
            if buffered:
                raise ValueError("bits that are not values")
        else:
            number = 0
            if at + size > content.shape[0]:
                raise ValueError("a run that is too long")
            for shift in range(size):
                number |= <uint64_t>content[at + shift] << 8 * shift
            at += size
            length = min((head >> 1) * 8, count - read) if head & 1 else head >> 1
            if not 0 < length <= count - read or n_uses >= 0 and number >= <uint64_t>n_uses:
                raise ValueError("a run that is too long")
            read += length
            if n_uses >= 0:
                uses[number] += length
            else:
                total += number * length
    if at != content.shape[0]:
        raise ValueError("bytes that are not values")
    return 0 if n_uses >= 0 else total
