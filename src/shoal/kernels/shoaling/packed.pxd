# Clusters packed into 64-bit words, so that the price of a union is cheap to compute.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport (
    COUNT, RANGE, REACH, RULE, Block, climb_price, count_price, is_counted, range_price, rule_price, set_price,
)


cdef extern from *:
    """
    namespace shoaling {
    inline int32_t count_bits(uint64_t word) { return __builtin_popcountll(word); }

    // Some words of a cluster, and how to price them: by table (bit masks of one or more sets with few values in total),
    // as a range (both positions), as a tree (both codes; unit: number of codes, table: start of its climbs), by counting
    // bits (a set of many values; table: 0, or the largest number of values of a limit), or as a limit (both codes; table:
    // start of the reaches).
    struct Piece { int32_t kind, word, end, unit; int64_t table; };
    struct Layout {
        std::vector<Piece> pieces;              // cheapest to evaluate first
        std::vector<int32_t> tables;            // price of every bit mask of a piece with a table
        std::vector<int32_t> first_word;        // first word of each attribute
        std::vector<int32_t> first_bit;         // first bit of each set in its words
        int32_t width;                          // words of a cluster
    };
    }
    """
    int32_t count_bits "shoaling::count_bits"(uint64_t word) noexcept nogil

    cppclass Piece "shoaling::Piece":
        int32_t kind
        int32_t word
        int32_t end
        int32_t unit
        int64_t table

    cppclass Layout "shoaling::Layout":
        vector[Piece] pieces
        vector[int32_t] tables
        vector[int32_t] first_word
        vector[int32_t] first_bit
        int32_t width


cdef enum:
    BY_TABLE = 0
    BY_RANGE = 1
    BY_TREE = 2
    BY_BITS = 3
    BY_REACH = 4


cdef inline void lay_out(const Block& block, Layout& layout) noexcept nogil:
    """Lay out the words of a cluster. Tables are small compared with the block, so building them pays off."""
    cdef int32_t a, n_values, kind
    cdef bint is_open = False       # the last piece has a table that may cover another set
    layout.first_word.assign(block.q, 0)
    layout.first_bit.assign(block.q, 0)
    layout.width = 0
    for kind in range(5):
        for a in range(block.q):
            n_values = block.base[a + 1] - block.base[a]
            if kind_of(block, a) != kind:
                continue
            if kind == BY_TABLE and is_open and table_fits(block, layout.pieces.back().end + n_values):
                widen_table(layout, n_values, block.unit[a], block.kinds[a], block.place[block.base[a]])
                layout.first_word[a] = layout.pieces.back().word
                layout.first_bit[a] = layout.pieces.back().end - n_values
                continue
            layout.first_word[a] = layout.width
            add_piece(
                layout, kind, n_values, n_values if kind == BY_TREE else block.unit[a], block.kinds[a], block.place[block.base[a]]
            )
            if kind == BY_TREE:
                layout.pieces.back().table = block.climb_base[a]
            elif kind == BY_REACH:
                layout.pieces.back().table = block.base[a]
            elif kind == BY_BITS:
                layout.pieces.back().table = block.place[block.base[a]] if block.kinds[a] == COUNT else 0
            is_open = kind == BY_TABLE


cdef inline int32_t kind_of(const Block& block, int32_t a) noexcept nogil:
    if block.kinds[a] == RULE:
        return BY_TABLE
    if not is_counted(block.kinds[a]):
        return BY_RANGE if block.kinds[a] == RANGE else BY_REACH if block.kinds[a] == REACH else BY_TREE
    return BY_TABLE if table_fits(block, block.base[a + 1] - block.base[a]) else BY_BITS


cdef inline bint table_fits(const Block& block, int32_t n_bits) noexcept nogil:
    return n_bits <= 12 and 1 << n_bits <= 4 * block.n


cdef inline void add_piece(
    Layout& layout, int32_t kind, int32_t n_values, int32_t unit, uint8_t recoding, int32_t most,
) noexcept nogil:
    """Add words for an attribute; for a table, `end` is the number of bits in use."""
    cdef Piece piece
    piece.kind = kind
    piece.word = layout.width
    piece.unit = unit
    piece.table = <int64_t>layout.tables.size()
    layout.width += (n_values + 63) // 64 if kind == BY_BITS else 1
    piece.end = layout.width if kind == BY_BITS else 0
    layout.pieces.push_back(piece)
    if kind == BY_TABLE:
        layout.tables.push_back(0)
        widen_table(layout, n_values, unit, recoding, most)


cdef inline void widen_table(
    Layout& layout, int32_t n_values, int32_t unit, uint8_t recoding, int32_t most,
) noexcept nogil:
    """Extend the last table by another set, whose bits are above the others."""
    cdef Piece* piece = &layout.pieces.back()
    cdef int32_t mask, i, size = 1 << piece.end, price
    for mask in range(1, 1 << n_values):
        if recoding == RULE:
            price = rule_price(unit, mask & 1, mask & 2)
        else:
            price = count_price(recoding, unit, most, count_bits(<uint64_t>mask))
        for i in range(size):
            layout.tables.push_back(layout.tables[piece.table + i] + price)
    piece.end += n_values


cdef inline int32_t union_price(
    const Block& block, const Layout& layout, const uint64_t* x, const uint64_t* y, int32_t limit,
) noexcept nogil:
    """Price of a row of the union of two clusters; once it exceeds the limit, any price above the limit."""
    cdef const Piece* piece = layout.pieces.data()
    cdef const Piece* end = piece + layout.pieces.size()
    cdef const int32_t* tables = layout.tables.data()
    cdef int32_t w, n, price = 0
    while piece != end:
        w = piece.word
        if piece.kind == BY_TABLE:
            price += tables[piece.table + <int64_t>(x[w] | y[w])]
        elif piece.kind == BY_RANGE:
            price += range_price(
                piece.unit, min(<int32_t>(x[w] >> 32), <int32_t>(y[w] >> 32)), max(<int32_t>x[w], <int32_t>y[w])
            )
        elif piece.kind == BY_TREE:
            price += climb_price(
                block.climbs.data() + piece.table, piece.unit,
                min(<int32_t>(x[w] >> 32), <int32_t>(y[w] >> 32)), max(<int32_t>x[w], <int32_t>y[w]),
            )
        elif piece.kind == BY_REACH:
            n = block.place[piece.table + min(<int32_t>(x[w] >> 32), <int32_t>(y[w] >> 32))]
            price += piece.unit if max(<int32_t>x[w], <int32_t>y[w]) > n else 0
        else:
            n = count_bits(x[w] | y[w])
            w += 1
            while w < piece.end:
                n += count_bits(x[w] | y[w])
                w += 1
            price += count_price(COUNT, piece.unit, <int32_t>piece.table, n) if piece.table > 0 else set_price(piece.unit, n)
        if price > limit:
            break
        piece += 1
    return price
