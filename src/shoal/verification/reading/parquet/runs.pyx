# distutils: language = c++
"""Integers of a Parquet page, written as runs of equal integers and runs of packed bits. Twin: tests/naive/runs.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

__all__ = ["read_runs"]


def read_runs(
    const uint8_t[::1] content,  # IN  the runs, to their last byte
    int width,                   # IN  the bits of an integer
    int64_t count,               # IN  how many integers there must be
    int64_t[::1] uses,           # OUT how often each integer occurs is added here; None: not counted
    int32_t[::1] numbers=None,   # OUT the integers, `count` places; None: not kept
) -> int:
    """Read runs; return the sum of the integers if their uses are not counted, else 0.

    Where integers are only counted, every byte must belong to one of them. Where they are kept, what stands behind
    the last one is ignored: some writers fill up the last run at will.

    Raises:
        ValueError: There are other bytes than runs, or an integer without a place in `uses`; or it is to be kept and
            has more than 31 bits.
    """
    cdef int64_t at = 0, read = 0, head, length, end, at_number, n_uses = -1
    cdef int shift, byte, n_bits, size = (width + 7) // 8
    cdef uint64_t number, total = 0, buffered, mask
    cdef bint is_kept = numbers is not None
    if width < 0 or width > (31 if is_kept else 32):
        raise ValueError("integers that are too wide")
    if is_kept and numbers.shape[0] != count:
        raise ValueError("another number of places")
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
            if is_kept:
                end = min(end, at + ((count - read) * width + 7) // 8)
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
                    if is_kept and read >= count:
                        continue
                    if number >= <uint64_t>n_uses if n_uses >= 0 else read >= count and number:
                        raise ValueError("bits that are not values")
                    if read < count:
                        if is_kept:
                            numbers[read] = <int32_t>number
                        read += 1
                        total += number
                        if n_uses >= 0:
                            uses[number] += 1
            if buffered and not is_kept:
                raise ValueError("bits that are not values")
        else:
            number = 0
            if at + size > content.shape[0]:
                raise ValueError("a run that is too long")
            for shift in range(size):
                number |= <uint64_t>content[at + shift] << 8 * shift
            at += size
            length = min((head >> 1) * 8, count - read) if head & 1 else head >> 1
            if is_kept:
                length = min(length, count - read)
            if not 0 < length <= count - read or n_uses >= 0 and number >= <uint64_t>n_uses:
                raise ValueError("a run that is too long")
            if is_kept:
                for at_number in range(read, read + length):
                    numbers[at_number] = <int32_t>number
            read += length
            if n_uses >= 0:
                uses[number] += length
            else:
                total += number * length
    if at != content.shape[0] and not is_kept:
        raise ValueError("bytes that are not values")
    return 0 if n_uses >= 0 else total
