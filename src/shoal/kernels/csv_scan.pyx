# distutils: language = c++
"""One pass over a CSV file: check its form and normalise its records. Twin: tests/naive/csv_scan.py."""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

cdef enum State:
    FIELD_START
    IN_FIELD
    IN_QUOTES
    AFTER_QUOTE

# Indices of the findings of scan_csv.
RECORDS, FIELDS, RAGGED, RAGGED_LINE, RAGGED_FIELDS, BLANK, OPEN_QUOTE, STRAY_QUOTE, NUL, LONE_CR, LENGTH = range(11)


def scan_csv(
    const uint8_t[::1] text,    # IN  the file, UTF-8
    uint8_t delimiter,          # IN  the delimiter
    bint initial_space,         # IN  whether blanks after a delimiter are skipped
    uint8_t[::1] plain,         # OUT records with LF ends, without blank lines and skipped blanks; length of text + 1
    int64_t[::1] found,         # OUT findings by the indices above; lines count from 1, 0 means none
) -> None:
    """Check RFC 4180 form and write normalised records; report the line of the first fault of each kind."""
    cdef Py_ssize_t i, write = 0, begin = 0, length = text.shape[0]
    cdef int64_t line = 1, first_line = 1, fields = 1
    cdef int64_t records = 0, width = 0, ragged = 0, ragged_line = 0, ragged_fields = 0, blank = 0
    cdef int64_t quote_line = 0, stray = 0, nul = 0, lone_cr = 0
    cdef uint8_t c
    cdef uint8_t[256] special  # 1 for bytes that can end a run of ordinary ones
    cdef Py_ssize_t run
    cdef State state = FIELD_START
    memset(special, 0, 256)
    for c in (0, 10, 13, 34, 32 * initial_space, delimiter):
        special[c] = 1
    with nogil:
        i = -1
        while i < length:
            i += 1
            if state == IN_FIELD or state == FIELD_START:
                run = i
                while run < length and not special[text[run]]:
                    run += 1
                if run > i:
                    memcpy(&plain[write], &text[i], run - i)
                    write += run - i
                    i = run
                    state = IN_FIELD
            if i == length:
                if write == begin and state == FIELD_START and fields == 1:
                    break
                if state == IN_QUOTES:
                    break
                c = 10
            else:
                c = text[i]
            if c == 0 and nul == 0:
                nul = line
            if state == IN_QUOTES:
                if c == 34:
                    state = AFTER_QUOTE
                elif c == 10:
                    line += 1
                plain[write] = c
                write += 1
                continue
            if c == 13:
                if (i + 1 == length or text[i + 1] != 10) and lone_cr == 0:
                    lone_cr = line
                continue
            if c == 10:
                if write == begin and state == FIELD_START and fields == 1:
                    blank += 1
                else:
                    records += 1
                    if width == 0:
                        width = fields
                    elif fields != width:
                        ragged += 1
                        if ragged_line == 0:
                            ragged_line = first_line
                            ragged_fields = fields
                    plain[write] = 10
                    write += 1
                line += 1
                first_line = line
                begin = write
                fields = 1
                state = FIELD_START
                continue
            if c == delimiter:
                fields += 1
                state = FIELD_START
            elif c == 34:
                if state == FIELD_START:
                    state = IN_QUOTES
                    quote_line = line
                elif state == AFTER_QUOTE:
                    state = IN_QUOTES
                elif stray == 0:
                    stray = line
            elif state == FIELD_START and initial_space and c == 32 and fields > 1:
                continue
            else:
                if state == AFTER_QUOTE and stray == 0:
                    stray = line
                state = IN_FIELD
            plain[write] = c
            write += 1
    found[0] = records
    found[1] = width
    found[2] = ragged
    found[3] = ragged_line
    found[4] = ragged_fields
    found[5] = blank
    found[6] = quote_line if state == IN_QUOTES else 0
    found[7] = stray
    found[8] = nul
    found[9] = lone_cr
    found[10] = write
