# Longer than 400 lines: the state machine and the dictionaries that it fills share their memory.
# distutils: language = c++
"""The verifier's own tokenizer of CSV bytes: one code per cell, and the distinct cells of each column.

Every byte is accounted for. The dialect is declared, never guessed; whatever departs from RFC 4180 is counted with the
place of its first occurrence. Shares no code with the reader of releases. Twin: Python's csv module.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy
from libcpp.vector cimport vector

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

__all__ = ["Coder", "Tokenizer"]

cdef enum Byte:
    LF = 10
    CR = 13
    SPACE = 32
    QUOTE = 34


cdef inline uint64_t hash_bytes(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    """Return a 64-bit hash of some bytes, eight at a time."""
    cdef uint64_t state = <uint64_t>length * 0x9E3779B97F4A7C15ULL, word
    while length >= 8:
        memcpy(&word, text, 8)
        state = (state ^ word) * 0xFF51AFD7ED558CCDULL
        state ^= state >> 32
        text += 8
        length -= 8
    if length:
        word = 0
        memcpy(&word, text, length)
        state = (state ^ word) * 0xFF51AFD7ED558CCDULL
        state ^= state >> 32
    state *= 0xC4CEB9FE1A85EC53ULL
    return state ^ (state >> 29)


cdef cppclass Dictionary:
    """The distinct cells of one column, in the order of their first occurrence, and the code of each row's cell."""
    vector[uint8_t] texts      # the distinct cells, one after the other
    vector[int64_t] starts     # where each begins; one more for the end of the last
    vector[uint64_t] hashes    # of each distinct cell
    vector[int32_t] slots      # open addressing: a code, or -1
    vector[int32_t] codes      # one per row

    int32_t code_of(const uint8_t* text, Py_ssize_t length) except -2 nogil:
        cdef uint64_t key = hash_bytes(text, length)
        cdef size_t mask, slot
        cdef int32_t code
        if this.starts.size() == 0:
            this.starts.push_back(0)
            this.slots.assign(16, -1)  # a file may have very many columns
        mask = this.slots.size() - 1
        slot = key & mask
        while True:
            code = this.slots[slot]
            if code < 0:
                break
            if (
                this.hashes[code] == key
                and this.starts[code + 1] - this.starts[code] == length
                and (length == 0 or memcmp(&this.texts[this.starts[code]], text, length) == 0)
            ):
                return code
            slot = (slot + 1) & mask
        code = <int32_t>this.hashes.size()
        this.slots[slot] = code
        this.hashes.push_back(key)
        this.texts.insert(this.texts.end(), text, text + length)
        this.starts.push_back(<int64_t>this.texts.size())
        if this.hashes.size() * 2 > this.slots.size():
            this.grow()
        return code

    int grow() except -1 nogil:
        cdef size_t mask, slot, i
        mask = this.slots.size() * 4 - 1
        this.slots.assign(mask + 1, -1)
        for i in range(this.hashes.size()):
            slot = this.hashes[i] & mask
            while this.slots[slot] >= 0:
                slot = (slot + 1) & mask
            this.slots[slot] = <int32_t>i
        return 0


cdef bytearray copy_bytes(const char* start, Py_ssize_t size):
    """Copy a part of memory into an object of Python."""
    cdef bytearray copy = bytearray(size)
    if size:
        memcpy(<char*>copy, start, size)
    return copy


cdef list distinct_cells(Dictionary* column):
    """Return the distinct cells of a column, by code."""
    cdef bytes texts = bytes(copy_bytes(<char*>column.texts.data(), column.texts.size()))
    cdef size_t i
    return [texts[column.starts[i] : column.starts[i + 1]] for i in range(column.hashes.size())]


cdef enum State:
    RECORD_START
    CELL_START
    IN_CELL
    IN_QUOTES
    AFTER_QUOTE  # a quote inside quotes: the end of the cell, or the first of two
    AFTER_RETURN


cdef class Tokenizer:
    """Splits CSV bytes (UTF-8) into coded columns, block by block.

    Feed the bytes in blocks of any size, then call `finish`. A record that is not as wide as the first one is counted in
    `ragged` and its cells are left out; an empty line is counted in `blank` and is not a row. Lines and rows count from
    1; 0 means that there is no such place.

    Args:
        delimiter: The byte between two cells.
        header: Whether the first record holds names, which are not coded.
        initial_space: Whether blanks at the beginning of a cell belong to the delimiter.
        most_bytes: The longest cell that is accepted.
        most_cells: The most cells of a record that are accepted.
    """

    cdef vector[Dictionary*] columns
    cdef vector[vector[uint8_t]] first  # the names
    cdef vector[uint8_t] cell           # what is known of the cell, where it cannot be taken from the block
    cdef vector[int64_t] numbers        # row number of each coded row, from the first ragged one on
    cdef State state
    cdef uint8_t delimiter
    cdef bint header, initial_space
    cdef Py_ssize_t most_bytes, most_cells, place
    cdef readonly Py_ssize_t width           # cells of the first record
    cdef readonly int64_t rows               # records but the header, ragged ones too
    cdef readonly int64_t line               # of the next byte
    cdef readonly int64_t blank, blank_row   # empty lines; the row behind the first
    cdef readonly int64_t ragged, ragged_row, ragged_line
    cdef readonly int64_t nul_line, return_line  # line or 0, as the others below; a carriage return outside quotes
    cdef readonly int64_t bare_quote_line    # a quote in a cell that is not quoted
    cdef readonly int64_t needless_quote_line  # a quoted cell that needs no quotes
    cdef readonly int64_t open_quote_line    # a quoted cell that does not end as it should
    cdef readonly int64_t long_line, wide_line  # a cell longer than most_bytes, a record of more than most_cells
    cdef int64_t quote_line
    cdef Py_ssize_t complete                 # coded rows since the last call of take_rows
    cdef readonly bint ended                 # the last byte is a line feed

    def __cinit__(self):
        self.line, self.state, self.ended = 1, RECORD_START, False

    def __init__(
        self, delimiter: int = 44, *, header: bool = True, initial_space: bool = False, most_bytes: int = 1 << 28,
        most_cells: int = 1 << 30,
    ) -> None:
        self.delimiter, self.header, self.initial_space = delimiter, header, initial_space
        self.most_bytes, self.most_cells = most_bytes, most_cells

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.columns.size()):
            del self.columns[i]

    @property
    def is_refused(self) -> bool:
        """Whether the bytes cannot be split any further: a quoted cell does not end, or a cell or record is too long."""
        return self.open_quote_line > 0 or self.long_line > 0 or self.wide_line > 0

    @property
    def names(self) -> list[bytes]:
        """The cells of the header."""
        cdef size_t i
        return [bytes(bytearray(self.first[i])) for i in range(self.first.size())]

    def feed(self, const uint8_t[::1] block) -> None:
        """Split the next bytes of the file."""
        cdef Py_ssize_t length = block.shape[0]
        if length == 0 or self.is_refused:
            return
        self.ended = block[length - 1] == LF
        with nogil:
            self._split(&block[0], length)

    def finish(self) -> None:
        """Take the end of the file as the end of its last record."""
        if self.is_refused or self.state in (RECORD_START, AFTER_RETURN):
            return
        if self.state == IN_QUOTES:
            self.open_quote_line = self.quote_line
            return
        self._end_cell(NULL, 0)
        self._end_record()

    def codes(self, column: int) -> bytearray:
        """Return the code of each coded row's cell as native int32."""
        cdef Dictionary* chosen = self.columns[column]
        return copy_bytes(<char*>chosen.codes.data(), chosen.codes.size() * 4)

    def cells(self, column: int) -> list[bytes]:
        """Return the distinct cells of a column in UTF-8; a code is an index into them."""
        return distinct_cells(self.columns[column])

    def take_rows(self) -> list[list[bytes]]:
        """Return the rows that were completed since the last call, and forget them: memory does not grow with the file.

        Cells of a record whose end has not been seen yet are kept for the next call.
        """
        cdef Py_ssize_t i, row, n_complete
        cdef list texts, columns = []
        cdef vector[int32_t] codes
        cdef bytes begun
        n_complete, self.complete = self.complete, 0
        for i in range(self.width):
            texts = distinct_cells(self.columns[i])
            codes = self.columns[i].codes
            columns.append([texts[codes[row]] for row in range(n_complete)])
            del self.columns[i]
            self.columns[i] = new Dictionary()
            if <Py_ssize_t>codes.size() > n_complete:
                begun = texts[codes[n_complete]]
                self.columns[i].codes.push_back(self.columns[i].code_of(<const uint8_t*><const char*>begun, len(begun)))
        self.numbers.clear()
        return list(map(list, zip(*columns)))

    def take_codes(self) -> list[bytearray]:
        """Return, column by column, the codes of the rows that were completed since the last call, and forget them.

        The distinct cells stay known, so that codes keep their meaning; see `new_cells` and `forget_cells`.
        """
        cdef Py_ssize_t i, n_complete
        cdef vector[int32_t]* codes
        cdef list taken = []
        n_complete, self.complete = self.complete, 0
        for i in range(self.width):
            codes = &self.columns[i].codes
            taken.append(copy_bytes(<char*>codes.data(), n_complete * 4))
            codes.erase(codes.begin(), codes.begin() + n_complete)
        self.numbers.clear()
        return taken

    def new_cells(self, column: int, n_known: int) -> list[bytes]:
        """Return the distinct cells of a column from a code on."""
        cdef Dictionary* chosen = self.columns[column]
        cdef Py_ssize_t i, first = n_known, n_cells = chosen.hashes.size()
        if first >= n_cells:
            return []
        cdef int64_t begin = chosen.starts[first]
        cdef bytes texts = bytes(copy_bytes(<char*>chosen.texts.data() + begin, chosen.texts.size() - begin))
        return [texts[chosen.starts[i] - begin : chosen.starts[i + 1] - begin] for i in range(first, n_cells)]

    def forget_cells(self, column: int) -> None:
        """Forget the distinct cells of a column, all of whose complete rows were taken; codes begin anew."""
        cdef Dictionary* old = self.columns[column]
        cdef Dictionary* fresh = new Dictionary()
        cdef int32_t code
        if old.codes.size():
            code = old.codes[0]
            fresh.codes.push_back(
                fresh.code_of(old.texts.data() + old.starts[code], old.starts[code + 1] - old.starts[code])
            )
        self.columns[column] = fresh
        del old

    def row_numbers(self) -> bytearray | None:
        """Return the row number of each coded row as native int64, or None if none is ragged."""
        if not self.ragged:
            return None
        return copy_bytes(<char*>self.numbers.data(), self.numbers.size() * 8)

    cdef int _split(self, const uint8_t* text, Py_ssize_t length) except -1 nogil:
        """Run the state machine over a block; the state goes on with the next one."""
        cdef Py_ssize_t at = 0, begin
        cdef uint8_t c
        while at < length:
            c = text[at]
            if c == 0 and self.nul_line == 0:
                self.nul_line = self.line
            if self.state == AFTER_RETURN:
                self.state = RECORD_START
                if c == LF:
                    at += 1
                    continue
            if self.state == RECORD_START:
                if c == LF or c == CR:
                    if self.blank == 0:
                        self.blank_row = self.rows + 1
                    self.blank += 1
                    self._end_line(c)
                    at += 1
                    continue
                self.state = CELL_START
            if self.state == CELL_START:
                if self.initial_space and c == SPACE:
                    at += 1
                    continue
                if c == QUOTE:
                    self.state, self.quote_line = IN_QUOTES, self.line
                    at += 1
                    continue
                self.state = IN_CELL
            if self.state == IN_CELL:
                begin = at
                while at < length and text[at] != self.delimiter and text[at] != LF and text[at] != CR:
                    if text[at] == QUOTE and self.bare_quote_line == 0:
                        self.bare_quote_line = self.line
                    if text[at] == 0 and self.nul_line == 0:
                        self.nul_line = self.line
                    at += 1
                if at == length:
                    if not self._keep(text + begin, at - begin):
                        return 0
                    continue
                self._end_cell(text + begin, at - begin)
            elif self.state == IN_QUOTES:
                begin = at
                while at < length and text[at] != QUOTE:
                    if text[at] == LF:
                        self.line += 1
                    elif text[at] == 0 and self.nul_line == 0:
                        self.nul_line = self.line
                    at += 1
                if not self._keep(text + begin, at - begin):
                    return 0
                if at < length:
                    self.state = AFTER_QUOTE
                    at += 1
                continue
            else:  # AFTER_QUOTE
                if c == QUOTE:
                    self.cell.push_back(QUOTE)
                    self.state = IN_QUOTES
                    at += 1
                    continue
                if c != self.delimiter and c != LF and c != CR:
                    self.open_quote_line = self.line
                    return 0
                self._judge_quotes(c == self.delimiter)
                self._end_cell(NULL, 0)
            # Here a cell has ended, and the byte says what with.
            if text[at] == self.delimiter:
                self.state = CELL_START
                if self.place >= self.most_cells:
                    self.wide_line = self.line
                    return 0
            else:
                self._end_record()
                self._end_line(text[at])
            at += 1
        return 0

    cdef void _judge_quotes(self, bint is_followed) noexcept nogil:
        """See whether a cell needs its quotes: it contains what ends a cell, or it is empty and the only one."""
        cdef size_t at = 0
        if self.needless_quote_line == 0 and (self.cell.size() or self.place or is_followed):
            while at < self.cell.size() and self.cell[at] not in (self.delimiter, QUOTE, LF, CR):
                at += 1
            self.needless_quote_line = self.quote_line if at == self.cell.size() else 0

    cdef int _keep(self, const uint8_t* text, Py_ssize_t length) except -1 nogil:
        """Keep a part of a cell until its end is seen; say no if it has grown too long."""
        self.cell.insert(self.cell.end(), text, text + length)
        self.long_line = self.line if <Py_ssize_t>self.cell.size() > self.most_bytes else 0
        return self.long_line == 0

    cdef void _end_line(self, uint8_t c) noexcept nogil:
        self.line += 1
        self.state = RECORD_START
        if c == CR:
            self.state = AFTER_RETURN
            if self.return_line == 0:
                self.return_line = self.line - 1

    cdef int _end_cell(self, const uint8_t* text, Py_ssize_t length) except -1 nogil:
        """Code a cell: what was kept of it, and these bytes."""
        cdef Dictionary* column
        if self.cell.size():
            self.cell.insert(self.cell.end(), text, text + length)
            text, length = self.cell.data(), self.cell.size()
        if self.rows == 0 and self.header and self.width == 0:
            self.first.resize(self.place + 1)
            self.first[self.place].assign(text, text + length)
        elif self.width == 0 or self.place < self.width:
            if <size_t>self.place == self.columns.size():
                self.columns.push_back(new Dictionary())
            column = self.columns[self.place]
            column.codes.push_back(column.code_of(text, length))
        self.place += 1
        self.cell.clear()
        return 0

    cdef int _end_record(self) except -1 nogil:
        cdef Py_ssize_t i
        if self.header and self.width == 0:
            self.width, self.place = self.place, 0
            for i in range(self.width):
                self.columns.push_back(new Dictionary())
            return 0
        self.width = self.width or self.place
        self.rows += 1
        if self.place != self.width:
            if self.ragged == 0:
                self.ragged_row, self.ragged_line = self.rows, self.line
                for i in range(self.rows - 1):
                    self.numbers.push_back(i + 1)
            self.ragged += 1
            for i in range(min(self.place, self.width)):
                self.columns[i].codes.pop_back()
        else:
            self.complete += 1
            if self.ragged:
                self.numbers.push_back(self.rows)
        self.place = 0
        return 0


cdef class Coder:
    """Codes a column of texts that are already split: one code per text, and the distinct texts."""

    cdef Dictionary column

    def add(self, texts: list[str]) -> None:
        """Code some more texts."""
        cdef Py_ssize_t size = 0
        cdef const char* start
        cdef object text
        for text in texts:
            start = PyUnicode_AsUTF8AndSize(text, &size)
            self.column.codes.push_back(self.column.code_of(<const uint8_t*>start, size))

    def codes(self) -> bytearray:
        """Return the code of each text as native int32."""
        return copy_bytes(<char*>self.column.codes.data(), self.column.codes.size() * 4)

    def cells(self) -> list[bytes]:
        """Return the distinct texts in UTF-8; a code is an index into them."""
        return distinct_cells(&self.column)
