# When a group is ripe: the one place that knows what every group must have.
#
# A group has its rows, and for each model a histogram: its rows of each value of a sensitive column, of each node above
# the values, or of each personal k. These are counts in one array, the tally. The rows of an entry have one class, and
# a class stands at one place of the tally for each of the histograms.

from libc.math cimport fabs, log
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <cstdint>
    #include <vector>
    namespace shoaling {
    struct Summary { int64_t rows; };
    // What a model asks of the n counts from `first` on; missing: which of them counts missing values, or -1.
    struct Term { int32_t kind, first, n, missing; double x, y; };
    struct Need {
        int64_t rows;
        int32_t n_columns = 0, n_tallies = 0;
        std::vector<int32_t> positions;     // classes x columns: places in the tally
        std::vector<Term> terms;
        std::vector<double> facts;          // two for each place of the tally
    };
    }
    """
    cppclass Summary "shoaling::Summary":
        int64_t rows

    cppclass Term "shoaling::Term":
        int32_t kind
        int32_t first
        int32_t n
        int32_t missing
        double x
        double y

    cppclass Need "shoaling::Need":
        int64_t rows
        int32_t n_columns
        int32_t n_tallies
        vector[int32_t] positions
        vector[Term] terms
        vector[double] facts


# Kinds of terms; x and y are their thresholds (a fraction: x / y), facts what they know of the whole table.
cdef enum:
    DISTINCT = 0    # at least x values
    LARGEST = 1     # the most frequent value has at most the share x / y
    ENTROPY = 2     # the entropy is at least x
    RECURSIVE = 3   # r_1 < c (r_l + ... + r_m) with c = x and l = y
    CLOSE = 4       # sum of |share - share in all| at most x / y; first facts: rows in all
    ORDERED = 5     # the same of shares up to each value
    SHARES = 6      # the share of each value lies between its two facts
    PERSONAL_K = 7  # as many rows as the greatest first fact of a value that occurs


cdef inline void load_need(
    int64_t k, const int32_t[:, ::1] positions, const double[:, ::1] terms, const double[:, ::1] facts, Need& need,
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef Term term
    need.rows = k
    need.n_columns = <int32_t>positions.shape[1]
    need.n_tallies = <int32_t>facts.shape[0]
    for i in range(positions.shape[0]):
        for j in range(positions.shape[1]):
            need.positions.push_back(positions[i, j])
    for i in range(facts.shape[0]):
        need.facts.push_back(facts[i, 0])
        need.facts.push_back(facts[i, 1])
    for i in range(terms.shape[0]):
        term.kind = <int32_t>terms[i, 0]
        term.first = <int32_t>terms[i, 1]
        term.n = <int32_t>terms[i, 2]
        term.missing = <int32_t>terms[i, 3]
        term.x = terms[i, 4]
        term.y = terms[i, 5]
        need.terms.push_back(term)


# --- rows ---

cdef inline bint has_rows(const Need& need, Summary summary) noexcept nogil:
    return summary.rows >= need.rows


cdef inline Summary joined(Summary left, Summary right) noexcept nogil:
    left.rows += right.rows
    return left


cdef inline Summary parted(Summary whole, Summary part) noexcept nogil:
    whole.rows -= part.rows
    return whole


cdef inline Summary nothing() noexcept nogil:
    cdef Summary summary
    summary.rows = 0
    return summary


cdef inline Summary share(const Need& need, Summary have, Summary lender) noexcept nogil:
    """The least part of a lender that gives what there is its rows, a row at least; all of it where no part does."""
    cdef int64_t lacking = max(need.rows - have.rows, <int64_t>1)
    if lender.rows > lacking:
        lender.rows = lacking
    return lender


cdef inline bint is_part(Summary part, Summary whole) noexcept nogil:
    return part.rows < whole.rows


# --- models ---

cdef inline void count_in(const Need& need, int64_t* tally, int32_t a_class, int64_t rows) noexcept nogil:
    """Add rows of a class to a tally."""
    cdef int32_t c
    for c in range(need.n_columns):
        tally[need.positions[a_class * need.n_columns + c]] += rows


cdef inline bint passes(const Need& need, Summary summary, const int64_t* tally) noexcept nogil:
    """Say whether a group with these rows and this tally is ripe."""
    cdef size_t i
    if summary.rows < need.rows:
        return False
    for i in range(need.terms.size()):
        if not keeps(need, need.terms[i], <double>summary.rows, tally + need.terms[i].first):
            return False
    return True


cdef inline bint keeps(const Need& need, const Term& term, double rows, const int64_t* counts) noexcept nogil:
    cdef const double* facts = need.facts.data() + 2 * term.first
    cdef int32_t i
    cdef double sum = 0
    if term.kind == CLOSE or term.kind == ORDERED:
        return work_of(term, rows, counts, facts) * term.y <= term.x * rows * facts[1]
    if term.kind == SHARES:
        for i in range(term.n):
            if counts[i] < facts[2 * i] * rows or counts[i] > facts[2 * i + 1] * rows:
                return False
        return True
    if term.kind == PERSONAL_K:
        for i in range(term.n):
            if counts[i] > 0 and rows < facts[2 * i]:
                return False
        return True
    return is_diverse(term, rows, counts)


cdef inline double work_of(const Term& term, double rows, const int64_t* counts, const double* facts) noexcept nogil:
    """Sum of |count * total - rows * count in all|, of each value or up to each; the second fact is the total."""
    cdef double work = 0, here = 0, there = 0
    cdef int32_t i
    for i in range(term.n):
        if term.kind == CLOSE:
            here = there = 0
        here += counts[i]
        there += facts[2 * i]
        work += fabs(here * facts[1] - there * rows)
    return work


cdef inline bint is_diverse(const Term& term, double rows, const int64_t* counts) noexcept nogil:
    """A missing value adds no diversity: it counts as the most frequent value."""
    cdef vector[int64_t] known
    cdef int32_t i
    cdef int64_t largest = 0, absent = counts[term.missing] if term.missing >= 0 else 0
    cdef double sum = 0
    if term.kind == DISTINCT:
        for i in range(term.n):
            sum += counts[i] > 0 and i != term.missing
        return max(sum, 1.0) >= term.x
    for i in range(term.n):
        if counts[i] > 0 and i != term.missing:
            known.push_back(-counts[i])
    if known.empty():
        known.push_back(0)
    cpp_sort(known.begin(), known.end())
    known[0] -= absent
    largest = -known[0]
    if term.kind == LARGEST:
        return largest * term.y <= term.x * rows
    if term.kind == RECURSIVE:
        for i in range(<int32_t>term.y - 1, <int32_t>known.size()):
            sum -= known[i]
        return largest < term.x * sum
    for i in range(<int32_t>known.size()):
        sum -= known[i] * log(<double>-known[i])
    return log(rows) - sum / rows >= term.x - 1e-12
