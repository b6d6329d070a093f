# distutils: language = c++
"""Top-down cuts of a table into small groups that pass the models. Twin: tests/naive/mixing.py."""

from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.starts.values cimport Segment, split_values
from shoal.kernels.shoaling.requirement cimport Requirement, Summary, add_to_tally, load_requirement, passes

# (gain, attribute) of a cut; (key, entry) of an entry in the order of an attribute.
ctypedef pair[double, int32_t] Gain
ctypedef pair[uint64_t, int32_t] Keyed

cdef enum:
    N_MIXTURES = 5      # from the plain cut to one that gives both sides the same shares
    N_SHARES = 3        # further shares of the left side under the last mixture
    FEW_PLACES = 64     # of a tally, which are not worth being numbered anew
    SMALLER = 8         # times that a segment is smaller before they are


cdef struct Mixture:
    double weight           # 0: the plain cut; 1: every class is cut at the same share
    double left             # share of the left side


cdef cppclass Side:
    int64_t rows
    int64_t people
    vector[int64_t] tally


cdef cppclass Scratch:
    vector[int64_t] histogram, class_rows, class_plain, class_left
    vector[uint8_t] goes_left, is_left
    vector[int32_t] met                 # for each person, the last side that met the person
    int32_t n_sides
    vector[Keyed] order
    Side left, right


def cut_mixed(
    const int32_t[:, ::1] codes,    # IN  codes of each entry
    const int64_t[::1] rows,        # IN  rows of each entry
    const int32_t[::1] classes,     # IN  class of each entry
    const int32_t[::1] people,      # IN  person of each entry; empty if rows are counted
    const int32_t[::1] places,      # IN  range: position of each code; tree: price of each code with the next
    const int64_t[::1] offsets,     # IN  start of each attribute in `places`, and the end of the last
    const uint8_t[::1] kinds,       # IN  kind of each attribute: SET, RANGE, TREE or RULE
    const int32_t[::1] units,       # IN  set: price of a value; range or tree: price of the full domain
    int64_t k,                      # IN  minimum size of a group
    const int32_t[:, ::1] positions,    # IN  places of each class in the tally of a group
    const double[:, ::1] terms,     # IN  terms of the models
    const double[:, ::1] facts,     # IN  two numbers for each place of the tally
    const int64_t[:, ::1] steps,    # IN  two numbers for each step of an order
    int32_t[::1] order,             # IN and OUT  entries, permuted so that each group is one run
    uint8_t[::1] marks,             # OUT 1 where a group begins
) -> None:
    """Cut as long as both sides pass. Where they would not, a cut gives each side rows of all classes."""
    cdef Scratch scratch
    cdef vector[int32_t] own
    cdef Py_ssize_t a, i
    cdef int64_t largest = 1
    cdef int32_t n_people = 0
    for a in range(codes.shape[1]):
        largest = max(largest, offsets[a + 1] - offsets[a])
    with nogil:
        scratch.histogram.assign(largest, 0)
        scratch.goes_left.assign(largest, 0)
        scratch.class_rows.assign(positions.shape[0], 0)
        scratch.class_plain.assign(positions.shape[0], 0)
        scratch.class_left.assign(positions.shape[0], 0)
        for i in range(people.shape[0]):
            n_people = max(n_people, people[i] + 1)
        scratch.met.assign(n_people, 0)
        scratch.n_sides = 0
        own.resize(order.shape[0])
        if order.shape[0] > 0:
            cut_segment(
                codes, rows, classes, people, places, offsets, kinds, units, k, positions, terms, facts, steps, order, marks,
                Segment(0, <int32_t>order.shape[0]), own, scratch,
            )


cdef void cut_segment(
    const int32_t[:, ::1] codes, const int64_t[::1] rows, const int32_t[::1] classes, const int32_t[::1] people,
    const int32_t[::1] places, const int64_t[::1] offsets, const uint8_t[::1] kinds, const int32_t[::1] units,
    int64_t k, const int32_t[:, ::1] positions, const double[:, ::1] terms, const double[:, ::1] facts,
    const int64_t[:, ::1] steps, int32_t[::1] order, uint8_t[::1] marks, Segment whole,
    vector[int32_t]& own,           # OUT the class of each entry of the segment in its requirement
    Scratch& scratch,
) noexcept nogil:
    """Cut a segment, under a requirement of its entries alone; parts that are much smaller get one of their own."""
    cdef Requirement requirement
    cdef vector[int32_t] loaded
    cdef vector[Segment] stack
    cdef vector[Gain] gains
    cdef Segment segment
    cdef Py_ssize_t i
    cdef int32_t a, middle
    for i in range(whole.start, whole.stop):
        loaded.push_back(classes[order[i]])
    load_requirement(k, positions, terms, facts, steps, loaded, requirement)
    for i in range(whole.start, whole.stop):
        own[order[i]] = loaded[i - whole.start]
    stack.push_back(whole)
    while not stack.empty():
        segment = stack.back()
        stack.pop_back()
        if requirement.n_tallies > FEW_PLACES and SMALLER * (segment.stop - segment.start) <= whole.stop - whole.start:
            cut_segment(
                codes, rows, classes, people, places, offsets, kinds, units, k, positions, terms, facts, steps, order, marks,
                segment, own, scratch,
            )
            continue
        gains.clear()
        for a in range(<int32_t>codes.shape[1]):
            gains.push_back(Gain(
                -split_values(codes, rows, places, offsets, kinds, units, a, 1, order, segment, scratch.histogram, scratch.goes_left),
                a,
            ))
        cpp_sort(gains.begin(), gains.end())
        middle = best_cut(codes, rows, own.data(), people, places, offsets, kinds, units, requirement, gains, order, segment, scratch)
        if middle <= segment.start:
            marks[segment.start] = 1
            continue
        stack.push_back(Segment(middle, segment.stop))
        stack.push_back(Segment(segment.start, middle))


cdef int32_t best_cut(
    const int32_t[:, ::1] codes, const int64_t[::1] rows, const int32_t* classes, const int32_t[::1] people,
    const int32_t[::1] places, const int64_t[::1] offsets, const uint8_t[::1] kinds, const int32_t[::1] units,
    const Requirement& requirement, const vector[Gain]& gains, int32_t[::1] order, Segment segment, Scratch& scratch,
) noexcept nogil:
    """Order the entries of the segment so that the left side comes first; return where the right side begins, or the start."""
    cdef Mixture mixture
    cdef vector[uint8_t] chosen
    cdef vector[Keyed] entries
    cdef double score, best = 0
    cdef Py_ssize_t i, j
    cdef int32_t write = segment.start, a
    for i in range(<Py_ssize_t>gains.size()):
        a = gains[i].second
        if -gains[i].first <= best:
            break
        split_values(codes, rows, places, offsets, kinds, units, a, 1, order, segment, scratch.histogram, scratch.goes_left)
        sort_entries(codes, order, segment, a, gains[1 - i if i < 2 and gains.size() > 1 else 0].second, scratch)
        mixture.left = count_classes(codes, rows, classes, a, scratch)
        for j in range(N_MIXTURES + N_SHARES):
            mixture.weight = min(<double>j / (N_MIXTURES - 1), 1.0)
            if j >= N_MIXTURES:
                mixture.left = (4 + j - N_MIXTURES) / 10.0
            score = -gains[i].first * (1 - mixture.weight / 2)
            if score <= best:
                break
            part(rows, classes, people, requirement, mixture, scratch)
            if side_passes(requirement, scratch.left, people.shape[0] > 0) and side_passes(requirement, scratch.right, people.shape[0] > 0):
                best = score
                chosen = scratch.is_left
                entries = scratch.order
                break
        clear_classes(classes, scratch)
    for i in range(<Py_ssize_t>entries.size()):
        if chosen[i]:
            order[write] = entries[i].second
            write += 1
    a = write
    for i in range(<Py_ssize_t>entries.size()):
        if not chosen[i]:
            order[write] = entries[i].second
            write += 1
    return a


cdef void sort_entries(
    const int32_t[:, ::1] codes, const int32_t[::1] order, Segment segment, int32_t a, int32_t second, Scratch& scratch,
) noexcept nogil:
    """Order the entries: those of the left side first, each side by the code of the attribute, then of a second one."""
    cdef Py_ssize_t i
    cdef uint64_t key
    scratch.order.clear()
    for i in range(segment.start, segment.stop):
        key = <uint64_t>(not scratch.goes_left[codes[order[i], a]]) << 62
        key |= <uint64_t>codes[order[i], a] << 31 | <uint64_t>codes[order[i], second]
        scratch.order.push_back(Keyed(key, order[i]))
    cpp_sort(scratch.order.begin(), scratch.order.end())


cdef double count_classes(
    const int32_t[:, ::1] codes, const int64_t[::1] rows, const int32_t* classes, int32_t a, Scratch& scratch,
) noexcept nogil:
    """Count the rows of each class, on both sides and on the left; return the share of the left side."""
    cdef Py_ssize_t i
    cdef int32_t e
    cdef int64_t left = 0, total = 0
    for i in range(<Py_ssize_t>scratch.order.size()):
        e = scratch.order[i].second
        total += rows[e]
        scratch.class_rows[classes[e]] += rows[e]
        if scratch.goes_left[codes[e, a]]:
            left += rows[e]
            scratch.class_plain[classes[e]] += rows[e]
    return <double>left / <double>total


cdef void clear_classes(const int32_t* classes, Scratch& scratch) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(<Py_ssize_t>scratch.order.size()):
        scratch.class_rows[classes[scratch.order[i].second]] = 0
        scratch.class_plain[classes[scratch.order[i].second]] = 0


cdef void part(
    const int64_t[::1] rows, const int32_t* classes, const int32_t[::1] people, const Requirement& requirement,
    Mixture mixture, Scratch& scratch,
) noexcept nogil:
    """Fill the left side with the first entries of each class, as many as the mixture asks for."""
    cdef Py_ssize_t i, n = <Py_ssize_t>scratch.order.size()
    cdef int32_t e, c
    cdef double wanted
    scratch.is_left.assign(n, 0)
    start_side(requirement, scratch.left)
    start_side(requirement, scratch.right)
    for i in range(n):
        scratch.class_left[classes[scratch.order[i].second]] = 0
    for i in range(n):
        e = scratch.order[i].second
        c = classes[e]
        wanted = (1 - mixture.weight) * scratch.class_plain[c] + mixture.weight * mixture.left * scratch.class_rows[c]
        if scratch.class_left[c] + rows[e] <= floor(wanted + 0.5 * rows[e]):
            scratch.class_left[c] += rows[e]
            scratch.is_left[i] = 1
            join_side(requirement, scratch.left, c, rows[e])
        else:
            join_side(requirement, scratch.right, c, rows[e])
    if people.shape[0] > 0:
        scratch.left.people = count_people(people, scratch, True)
        scratch.right.people = count_people(people, scratch, False)


cdef void start_side(const Requirement& requirement, Side& side) noexcept nogil:
    side.rows = 0
    side.people = 0
    side.tally.assign(requirement.n_tallies, 0)


cdef void join_side(const Requirement& requirement, Side& side, int32_t a_class, int64_t rows) noexcept nogil:
    side.rows += rows
    add_to_tally(requirement, side.tally.data(), a_class, rows)


cdef int64_t count_people(const int32_t[::1] people, Scratch& scratch, bint on_left) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t n = 0
    scratch.n_sides += 1
    for i in range(<Py_ssize_t>scratch.order.size()):
        if scratch.is_left[i] == on_left and scratch.met[people[scratch.order[i].second]] != scratch.n_sides:
            scratch.met[people[scratch.order[i].second]] = scratch.n_sides
            n += 1
    return n


cdef bint side_passes(const Requirement& requirement, const Side& side, bint by_person) noexcept nogil:
    cdef Summary summary
    summary.rows = side.rows
    return side.rows > 0 and passes(requirement, side.people if by_person else side.rows, summary, side.tally.data())
