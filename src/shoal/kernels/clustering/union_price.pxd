# Sets of tuples packed into words, and the exact loss (NCP) of a row of the union of two sets.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector


cdef enum:
    A_SET = 0       # a category: one bit for each value
    A_RANGE = 1     # a number or date: the ends of its range; a missing value is at -1
    A_NODE = 2      # a tree: a level above the codes, and one of the codes below the node


cdef extern from *:
    """
    namespace unions {
    constexpr int64_t NO_LIMIT = INT64_MAX;
    // How an attribute is packed and priced. unit: price of a value of a set, of a leaf below a node or of a step of a
    // range; first: discount of the first value or leaf; full: price of a range that includes missing values.
    struct Form { int32_t kind, word, end, card; int64_t unit, first, full; const int64_t* places; const int32_t* nodes;
                  const int32_t* leaves; };
    struct Forms { std::vector<Form> each; int32_t width; };
    }
    """
    const int64_t NO_LIMIT "unions::NO_LIMIT"

    cppclass Form "unions::Form":
        int32_t kind
        int32_t word
        int32_t end
        int32_t card
        int64_t unit
        int64_t first
        int64_t full
        const int64_t* places
        const int32_t* nodes
        const int32_t* leaves

    cppclass Forms "unions::Forms":
        vector[Form] each
        int32_t width


cdef inline int64_t count_bits(uint64_t word) noexcept nogil:
    word -= (word >> 1) & <uint64_t>0x5555555555555555
    word = (word & <uint64_t>0x3333333333333333) + ((word >> 2) & <uint64_t>0x3333333333333333)
    word = (word + (word >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int64_t>((word * <uint64_t>0x0101010101010101) >> 56)


cdef inline int lay_forms(object arrays, Forms& forms) except -1:
    """Lay out the words of a set; the arrays (shoal.methods.prices.Forms) must outlive the forms."""
    cdef const uint8_t[::1] kinds = arrays.kinds                # IN  of each attribute: 0 a set, 1 a range, 2 a tree
    cdef const int64_t[::1] cards = arrays.cards                # IN  number of codes of each attribute
    cdef const int64_t[::1] units = arrays.units                # IN  price of a step, value or leaf
    cdef const int64_t[::1] firsts = arrays.firsts              # IN  discount of the first value or leaf
    cdef const int64_t[::1] fulls = arrays.fulls                # IN  price of a range that includes missing values
    cdef const int64_t[::1] places = arrays.places              # IN  position of each code, -1 if missing (ranges only)
    cdef const int64_t[::1] starts = arrays.starts              # IN  start of each attribute in `places`
    cdef const int32_t[::1] nodes = arrays.nodes                # IN  node of each code at each level, tree after tree
    cdef const int64_t[::1] node_starts = arrays.node_starts    # IN  start of each attribute in `nodes`
    cdef const int32_t[::1] leaves = arrays.leaves              # IN  codes below each node, tree after tree
    cdef const int64_t[::1] leaf_starts = arrays.leaf_starts    # IN  start of each attribute in `leaves`
    cdef Py_ssize_t a
    cdef Form form
    forms.width = 0
    for a in range(kinds.shape[0]):
        form.kind, form.card = kinds[a], <int32_t>cards[a]
        form.unit, form.first, form.full = units[a], firsts[a], fulls[a]
        form.places = &places[starts[a]] if form.kind == A_RANGE else NULL
        form.nodes = &nodes[node_starts[a]] if form.kind == A_NODE else NULL
        form.leaves = &leaves[leaf_starts[a]] if form.kind == A_NODE else NULL
        form.word = forms.width
        forms.width += 2 if form.kind == A_RANGE else 1 if form.kind == A_NODE else (form.card + 63) // 64
        form.end = forms.width
        forms.each.push_back(form)
    return 0


cdef inline void write_tuple(const Forms& forms, const int32_t* codes, uint64_t* words) noexcept nogil:
    """Pack one tuple as a set."""
    cdef Py_ssize_t a
    cdef int32_t w
    cdef const Form* form
    for a in range(<Py_ssize_t>forms.each.size()):
        form = &forms.each[a]
        for w in range(form.word, form.end):
            words[w] = 0
        if form.kind == A_RANGE:
            words[form.word] = words[form.word + 1] = <uint64_t>form.places[codes[a]]
        elif form.kind == A_NODE:
            words[form.word] = <uint64_t>codes[a]
        else:
            words[form.word + codes[a] // 64] = <uint64_t>1 << (codes[a] % 64)


cdef inline uint64_t common_node(const Form* form, uint64_t x, uint64_t y) noexcept nogil:
    """Return the lowest common node: its level in the upper half, the lower code in the lower half."""
    cdef uint64_t level = max(x >> 32, y >> 32)
    cdef int64_t one = <int64_t><uint32_t>x, other = <int64_t><uint32_t>y
    while form.nodes[<int64_t>level * form.card + one] != form.nodes[<int64_t>level * form.card + other]:
        level += 1
    return level << 32 | <uint64_t>min(one, other)


cdef inline int64_t node_price(const Form* form, uint64_t node) noexcept nogil:
    cdef int64_t level = <int64_t>(node >> 32), n
    n = form.leaves[form.nodes[level * form.card + <int64_t><uint32_t>node]]
    return n * form.unit - form.first if n > 1 and level > 0 else 0


cdef inline int64_t range_price(const Form* form, int64_t low, int64_t high) noexcept nogil:
    if low < 0:
        return form.full if high >= 0 else 0
    return (high - low) * form.unit


cdef inline int64_t form_price(const Form* form, const uint64_t* x, const uint64_t* y) noexcept nogil:
    """Price of one attribute of a row of the union of two sets."""
    cdef int32_t w = form.word
    cdef int64_t n
    if form.kind == A_RANGE:
        return range_price(form, min(<int64_t>x[w], <int64_t>y[w]), max(<int64_t>x[w + 1], <int64_t>y[w + 1]))
    if form.kind == A_NODE:
        return node_price(form, common_node(form, x[w], y[w]))
    n = count_bits(x[w] | y[w])
    w += 1
    while w < form.end:
        n += count_bits(x[w] | y[w])
        w += 1
    return n * form.unit - form.first if n > 1 else 0


cdef inline int64_t union_price(const Forms& forms, const uint64_t* x, const uint64_t* y, int64_t limit) noexcept nogil:
    """Price of a row of the union of two sets; once it exceeds the limit, any price above the limit."""
    cdef const Form* form = forms.each.data()
    cdef const Form* end = form + forms.each.size()
    cdef int64_t price = 0
    while form != end:
        price += form_price(form, x, y)
        if price > limit:
            break
        form += 1
    return price


cdef inline void unite(const Forms& forms, uint64_t* x, const uint64_t* y) noexcept nogil:
    """Add the tuples of y to x."""
    cdef Py_ssize_t a
    cdef int32_t w
    cdef const Form* form
    for a in range(<Py_ssize_t>forms.each.size()):
        form = &forms.each[a]
        w = form.word
        if form.kind == A_RANGE:
            x[w] = <uint64_t>min(<int64_t>x[w], <int64_t>y[w])
            x[w + 1] = <uint64_t>max(<int64_t>x[w + 1], <int64_t>y[w + 1])
        elif form.kind == A_NODE:
            x[w] = common_node(form, x[w], y[w])
        else:
            for w in range(form.word, form.end):
                x[w] |= y[w]
