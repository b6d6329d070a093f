# A block of entries, and the price of a set of entries: shared by the kernels of shoaling.
#
# An entry is a tuple of codes with some of its rows. Prices are integers: the NCP of a row that lost everything is about
# 2^29, so a price fits into 32 bits, a price times rows into 64 bits, and no sum depends on its order.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.algorithm cimport upper_bound
from libcpp.vector cimport vector

from shoal.kernels.shoaling.requirement cimport Requirement, Summary, load_requirement, number_values


cdef extern from *:
    """
    #include <cstdint>
    #include <vector>
    namespace shoaling {
    // The entries of a block under local codes, which number the values that occur in the block. Attributes with a single
    // value in the block are left out.
    struct Block {
        int32_t n = 0, q = 0;
        Requirement requirement;
        int64_t charge = 0;             // what a group costs beside its rows, to have fewer groups
        std::vector<int32_t> codes;     // n x q
        std::vector<Summary> entries;   // n
        std::vector<int32_t> classes;   // n: class of the rows of an entry, for the models
        int32_t n_people = 0;           // 0 if rows are counted
        std::vector<int32_t> person;    // n: person of the rows of an entry, numbered within the block; empty if rows count
        std::vector<uint8_t> kinds;     // q: SET, RANGE, TREE, RULE, REACH or COUNT
        std::vector<int32_t> unit;      // q: set: price of a value; range or tree: price of the full domain; else of a breach
        std::vector<int32_t> base;      // q + 1: first local code of each attribute, and the end
        // Range: position of each local code. Tree: price of each local code with the next. Reach: the greatest local code
        // that may join each local code. Count: the largest number of values.
        std::vector<int32_t> place;
        std::vector<int64_t> climb_base;    // q: start of each tree in `climbs`
        std::vector<int32_t> climbs;    // tree: price of any two codes, or the maximum over 1, 2, 4 ... steps from each
        // The population inside the block, one bit for each of its tuples; for each local code, n_words words.
        int32_t n_words = 0;
        std::vector<uint64_t> reaches;  // set: tuples with the value; range or tree: tuples not below the code
        std::vector<uint64_t> below;    // range or tree: tuples not above the code
        std::vector<int64_t> crowd;     // rows of each tuple of the population
    };
    }
    """
    cppclass Block "shoaling::Block":
        int32_t n
        int32_t q
        Requirement requirement
        int64_t charge
        vector[int32_t] codes
        vector[Summary] entries
        vector[int32_t] classes
        int32_t n_people
        vector[int32_t] person
        vector[uint8_t] kinds
        vector[int32_t] unit
        vector[int32_t] base
        vector[int32_t] place
        vector[int64_t] climb_base
        vector[int32_t] climbs
        int32_t n_words
        vector[uint64_t] reaches
        vector[uint64_t] below
        vector[int64_t] crowd


# How an attribute is generalised: to the set of its values, to the range of its numbers or dates, or to a node of a
# hierarchy. A rule is an attribute as well: it costs its unit if a group has both of its sides, codes 0 and 1. The codes
# of a tree follow the order of its leaves. So the lowest common node of some codes is that of the least and the greatest
# code, and its price is the maximum price of two neighbours between them (a "climb"). Limits are attributes, too: REACH
# costs its unit if the greatest code of a group lies beyond the reach of the least, COUNT if it has too many values.
cdef enum:
    SET = 0
    RANGE = 1
    TREE = 2
    RULE = 3
    REACH = 4
    COUNT = 5
    FEW_CODES = 64  # up to this many codes, a tree has a table of the price of any two


# --- random numbers: the n-th number of a stream is a hash of the stream's key and n ---

cdef inline uint64_t draw(uint64_t* state) noexcept nogil:
    """SplitMix64 (Steele, Lea, Flood 2014)."""
    cdef uint64_t z
    state[0] += <uint64_t>0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline int32_t draw_below(uint64_t* state, int32_t bound) noexcept nogil:
    return <int32_t>(((draw(state) >> 32) * <uint64_t>bound) >> 32)


# --- the block ---

cdef inline int load_block(object work, Block& block) except -1:
    """Load a block of work (shoal.methods.shoaling.block.Block) from the arrays in its attributes."""
    cdef const int32_t[:, ::1] codes = work.codes           # IN  codes of each entry, dearest attribute first
    cdef const int64_t[::1] rows = work.rows                # IN  rows of each entry
    cdef const int32_t[::1] classes = work.classes          # IN  class of each entry; models cannot tell its rows apart
    cdef const int32_t[::1] people = work.people            # IN  person of each entry; empty if rows are counted
    cdef const int32_t[::1] places = work.prices.places     # IN  by kind, as in a block
    cdef const int64_t[::1] offsets = work.prices.offsets   # IN  start of each attribute in `places`, and the end
    cdef const uint8_t[::1] kinds = work.prices.kinds       # IN  kind of each attribute
    cdef const int32_t[::1] units = work.prices.units       # IN  by kind, as in a block
    cdef const int32_t[:, ::1] positions = work.positions   # IN  places of each class in the tally of a group
    cdef const double[:, ::1] terms = work.terms            # IN  terms of the models
    cdef const double[:, ::1] facts = work.facts            # IN  two numbers for each place of the tally
    cdef const int64_t[:, ::1] steps = work.steps           # IN  two numbers for each step of an order
    cdef const int32_t[:, ::1] cover = work.cover           # IN  places of the population in each attribute, see load_cover
    cdef const int64_t[::1] crowd = work.crowd              # IN  rows of each tuple of the population
    cdef int64_t k = work.k                                 # IN  minimum size of a group
    cdef int64_t charge = work.charge                       # IN  cost of a group beside its rows
    cdef Py_ssize_t i, a, n = rows.shape[0]
    cdef vector[int32_t] column, columns
    cdef Summary summary
    with nogil:
        block.charge = charge
        start_block(block, <int32_t>n)
        for i in range(n):
            summary.rows = rows[i]
            block.entries.push_back(summary)
            block.classes.push_back(classes[i])
        load_requirement(k, positions, terms, facts, steps, block.classes, block.requirement)
        column.resize(n)
        if people.shape[0] > 0:
            for i in range(n):
                column[i] = people[i]
            add_people(block, column)
        for a in range(codes.shape[1]):
            for i in range(n):
                column[i] = codes[i, a]
            add_attribute(block, column, offsets[a + 1] - offsets[a], kinds[a], units[a], &places[offsets[a]], columns)
        finish_block(block, columns)
        if block.requirement.covers:
            load_cover(cover, crowd, block)
    return 0


cdef inline void start_block(Block& block, int32_t n) noexcept nogil:
    block.n = n
    block.q = 0
    block.entries.clear()
    block.classes.clear()
    block.n_people = 0
    block.person.clear()
    block.kinds.clear()
    block.unit.clear()
    block.place.clear()
    block.climb_base.clear()
    block.climbs.clear()
    block.base.assign(1, 0)


cdef inline void add_people(Block& block, vector[int32_t]& people) noexcept nogil:
    """Number the persons of the entries locally, in the same order; sizes count people from here on."""
    cdef vector[int32_t] known
    block.person = people
    number_values(2147483647, block.person, known)  # how many there are in all does not matter
    block.n_people = <int32_t>known.size()
    block.requirement.by_person = True


cdef inline void add_attribute(
    Block& block,
    vector[int32_t]& column,        # IN  code of each entry; overwritten
    int64_t n_values,               # IN  number of possible codes
    uint8_t kind, int32_t unit,
    const int32_t* places,          # IN  of each code
    vector[int32_t]& columns,       # OUT local codes, attribute by attribute
) noexcept nogil:
    """Number the values of an attribute locally, in the same order; skip an attribute with a single value."""
    cdef Py_ssize_t i
    cdef vector[int32_t] known
    cdef int64_t c
    cdef int32_t place
    number_values(n_values, column, known)
    if known.size() < 2 or (kind == RULE and known[1] != 1):  # the block has one side only
        return
    block.q += 1
    block.kinds.push_back(kind)
    block.unit.push_back(unit)
    for i in range(<Py_ssize_t>known.size()):
        place = places[known[i]] if kind != SET and kind != RULE else 0
        if kind == REACH:
            place = <int32_t>(upper_bound(known.begin(), known.end(), place) - known.begin()) - 1
        if kind == TREE:
            for c in range(known[i] + 1, known[i + 1] if i + 1 < <Py_ssize_t>known.size() else 0):
                place = max(place, places[c])
        block.place.push_back(place)
    block.base.push_back(<int32_t>block.place.size())
    columns.insert(columns.end(), column.begin(), column.end())
    block.climb_base.push_back(<int64_t>block.climbs.size())
    if kind == TREE:
        add_climbs(block, <Py_ssize_t>known.size())


cdef inline void add_climbs(Block& block, Py_ssize_t n) noexcept nogil:
    """Tabulate the climbs of the last attribute, which has n codes: of any two codes, or of 1, 2, 4 ... steps."""
    cdef Py_ssize_t i, j, step = 1, row = <Py_ssize_t>block.climbs.size()
    cdef int32_t climb
    if n <= FEW_CODES:
        for i in range(n):
            climb = 0
            for j in range(n):
                climb = max(climb, block.place[block.place.size() - n + j - 1]) if j > i else 0
                block.climbs.push_back(climb)
        return
    block.climbs.insert(block.climbs.end(), block.place.end() - n, block.place.end())
    while 2 * step < n:
        for i in range(n):
            climb = block.climbs[row + i]
            if i + step < n:
                climb = max(climb, block.climbs[row + i + step])
            block.climbs.push_back(climb)
        row += n
        step *= 2


cdef inline void finish_block(Block& block, const vector[int32_t]& columns) noexcept nogil:
    cdef Py_ssize_t i, a, n = block.n, q = block.q
    block.codes.resize(n * q)
    for a in range(q):
        for i in range(n):
            block.codes[i * q + a] = columns[a * n + i]


# --- price of a set of values ---

cdef inline int32_t set_price(int32_t unit, int32_t n_values) noexcept nogil:
    return unit * n_values if n_values > 1 else 0


cdef inline bint is_counted(uint8_t kind) noexcept nogil:
    """Say whether an attribute counts its values, in place of keeping the least and the greatest."""
    return kind == SET or kind == COUNT


cdef inline int32_t count_price(uint8_t kind, int32_t unit, int32_t most, int32_t n_values) noexcept nogil:
    """Price of a number of values; most: how many a limit allows."""
    if kind == COUNT:
        return unit if n_values > most else 0
    return set_price(unit, n_values)


cdef inline int32_t values_price(const Block& block, int32_t a, int32_t n_values) noexcept nogil:
    return count_price(block.kinds[a], block.unit[a], block.place[block.base[a]], n_values)


cdef inline int32_t rule_price(int32_t unit, bint one, bint other) noexcept nogil:
    return unit if one and other else 0


cdef inline int32_t range_price(int32_t unit, int32_t low, int32_t high) noexcept nogil:
    """Price of a range between two positions; a missing value is so far away that its range is the full domain."""
    return high - low if high - low < unit else unit


cdef inline int32_t climb_price(const int32_t* climbs, int32_t n, int32_t low, int32_t high) noexcept nogil:
    """Price of the lowest common node of two codes; n: number of codes of the tree."""
    cdef int32_t steps = high - low, step = 1
    if n <= FEW_CODES:
        return climbs[low * n + high]
    if steps == 0:
        return 0
    while 2 * step <= steps:
        step *= 2
        climbs += n
    return max(climbs[low], climbs[high - step])


cdef inline int32_t span_price(const Block& block, int32_t a, int32_t low, int32_t high) noexcept nogil:
    """Price of everything between two codes of a range, a tree or a limit."""
    cdef int32_t b = block.base[a]
    if block.kinds[a] == REACH:
        return block.unit[a] if high > block.place[b + low] else 0
    if block.kinds[a] == RANGE:
        return range_price(block.unit[a], block.place[b + low], block.place[b + high])
    return climb_price(block.climbs.data() + block.climb_base[a], block.base[a + 1] - b, low, high)


# --- the population ---

cdef inline void load_cover(const int32_t[:, ::1] cover, const int64_t[::1] crowd, Block& block) noexcept nogil:
    """Load the population: for each tuple and attribute, twice the local code, or the odd number between two codes."""
    cdef Py_ssize_t i, a, c, n = crowd.shape[0]
    cdef uint64_t bit
    block.n_words = <int32_t>((n + 63) // 64)
    block.reaches.assign(<size_t>block.n_words * block.base[block.q], 0)
    block.below.assign(<size_t>block.n_words * block.base[block.q], 0)
    for i in range(n):
        block.crowd.push_back(crowd[i])
        bit = <uint64_t>1 << (i & 63)
        for a in range(block.q):
            for c in range(block.base[a + 1] - block.base[a]):
                if 2 * c == cover[i, a] or (block.kinds[a] != SET and 2 * c < cover[i, a]):
                    block.reaches[(block.base[a] + c) * block.n_words + (i >> 6)] |= bit
                if 2 * c >= cover[i, a]:
                    block.below[(block.base[a] + c) * block.n_words + (i >> 6)] |= bit
