# The requirement that every group must meet: k rows or k people, and the terms of the models.
#
# The size of a group is its number of rows or, if people are counted, of different people. Terms about shares count rows.
#
# For each histogram of a term, a group counts its rows by value of a sensitive column, by node of a hierarchy or by
# personal k. All counts of a group form one array, the tally. The rows of an entry share one class, and a class has one
# place in the tally for each histogram.
#
# A kernel looks at some entries only, and a column may have as many values as the table has rows. So a requirement is
# loaded for these entries: classes and places are numbered anew, and values that do not occur among the entries share
# one place or none. What a term says does not change.

from libc.math cimport fabs, log
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport lower_bound, sort as cpp_sort, unique as cpp_unique
from libcpp.vector cimport vector


cdef extern from *:
    """
    #include <cstdint>
    #include <vector>
    namespace shoaling {
    struct Summary { int64_t rows; };
    // A condition on the n counts from `first` on; missing: the one that counts missing values, or -1.
    struct Term { int32_t kind, first, n, missing; double x, y; };
    struct Requirement {
        int64_t rows;                       // least size of a group; no group of k people has fewer rows
        int32_t n_columns = 0, n_tallies = 0;
        bool by_person = false;             // whether sizes count people
        bool covers = false;                // whether the population inside the cells of a group decides
        int64_t least_covered = 0;          // k-map: least number of population rows
        double low_share = 0, high_share = 1e300;   // delta-presence: limits of the share of these that are in the group
        std::vector<int32_t> positions;     // classes x histograms: places in the tally
        std::vector<Term> terms;
        std::vector<double> facts;          // two for each place of the tally
        // For each step of an order: the rows of the table up to there, and the sum of these over all steps before. The
        // caller keeps the array.
        const int64_t* steps = nullptr;
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

    cppclass Requirement "shoaling::Requirement":
        int64_t rows
        int32_t n_columns
        int32_t n_tallies
        bint by_person
        bint covers
        int64_t least_covered
        double low_share
        double high_share
        vector[int32_t] positions
        vector[Term] terms
        vector[double] facts
        const int64_t* steps


# Kinds of terms; x and y are the thresholds (a fraction is x / y), facts come from the whole table.
cdef enum:
    DISTINCT = 0    # at least x distinct values
    LARGEST = 1     # the most frequent value has at most the share x / y
    ENTROPY = 2     # the entropy is at least x
    RECURSIVE = 3   # r_1 < c (r_l + ... + r_m) with c = x and l = y
    CLOSE = 4       # sum of |share - share in the table| at most x / y; facts: rows of the value, of the table
    ORDERED = 5     # the same for cumulative shares; facts: step of the value, rows of the table; a last place ends the steps
    SHARES = 6      # the share of each value lies between its two facts; x: for how many values it must be above 0
    PERSONAL_K = 7  # a size of at least the greatest first fact of a place that occurs
    COVERED = 8     # the cells cover at least x rows of the population
    PRESENCE = 9    # of the population rows that the cells cover, a share from x to y is in the group


cdef inline void number_values(int64_t n_values, vector[int32_t]& column, vector[int32_t]& known) noexcept nogil:
    """Number the values of a column from 0, in the same order; known: those that occur."""
    cdef vector[int32_t] local
    cdef Py_ssize_t i, n = <Py_ssize_t>column.size()
    cdef int64_t c
    known.clear()
    if n_values <= 4 * n:
        local.assign(n_values, -1)
        for i in range(n):
            local[column[i]] = 0
        for c in range(n_values):
            if local[c] == 0:
                local[c] = <int32_t>known.size()
                known.push_back(<int32_t>c)
        for i in range(n):
            column[i] = local[column[i]]
        return
    known = column
    cpp_sort(known.begin(), known.end())
    known.erase(cpp_unique(known.begin(), known.end()), known.end())
    for i in range(n):
        column[i] = <int32_t>(lower_bound(known.begin(), known.end(), column[i]) - known.begin())


cdef inline void load_requirement(
    int64_t k,                              # IN  minimum size of a group
    const int32_t[:, ::1] positions,        # IN  places of each class in the tally of a group
    const double[:, ::1] terms,             # IN  terms of the models
    const double[:, ::1] facts,             # IN  two numbers for each place of the tally
    const int64_t[:, ::1] steps,            # IN  two numbers for each step of an order
    vector[int32_t]& classes,               # IN  class of each entry; OUT its number in the requirement
    Requirement& requirement,               # OUT
) noexcept nogil:
    """Load the requirement of groups of some entries."""
    cdef vector[int32_t] known, occurring, local
    cdef Py_ssize_t i, j
    cdef int32_t first, stop, n_histograms
    requirement.rows = k
    requirement.n_columns = <int32_t>positions.shape[1]
    requirement.steps = &steps[0, 0] if steps.shape[0] > 0 else NULL
    requirement.positions.clear()
    requirement.terms.clear()
    requirement.facts.clear()
    if requirement.n_columns > 0:
        number_values(positions.shape[0], classes, known)
    for i in range(<Py_ssize_t>known.size()):
        for j in range(requirement.n_columns):
            requirement.positions.push_back(positions[known[i], j])
    number_values(facts.shape[0], requirement.positions, occurring)
    local.assign(occurring.size(), -1)
    for i in range(terms.shape[0]):
        if <int32_t>terms[i, 0] == COVERED or <int32_t>terms[i, 0] == PRESENCE:
            add_cover(requirement, <int32_t>terms[i, 0], terms[i, 4], terms[i, 5])
            continue
        first, stop, n_histograms = <int32_t>terms[i, 1], <int32_t>(terms[i, 1] + terms[i, 2]), 0
        for j in range(requirement.n_columns if not known.empty() else 0):
            n_histograms += first <= positions[known[0], j] < stop
        add_term(terms[i], facts, n_histograms, occurring, local, requirement)
    for i in range(<Py_ssize_t>requirement.positions.size()):
        requirement.positions[i] = local[requirement.positions[i]]
    requirement.n_tallies = <int32_t>(requirement.facts.size() // 2)


cdef inline void add_term(
    const double[::1] numbers,              # IN  kind, first place, number of places, place of missing values, x, y
    const double[:, ::1] facts,             # IN  of each place
    int32_t n_histograms,                   # IN  of the term
    vector[int32_t]& occurring,             # IN  the places of the entries, ascending
    vector[int32_t]& local,                 # OUT the place of each in the requirement
    Requirement& requirement,
) noexcept nogil:
    cdef Term term
    cdef int32_t first = <int32_t>numbers[1], last = first + <int32_t>numbers[2] - 1
    cdef Py_ssize_t i = lower_bound(occurring.begin(), occurring.end(), first) - occurring.begin()
    cdef double rows = 0, n_above = 0
    term.kind = <int32_t>numbers[0]
    term.first = <int32_t>(requirement.facts.size() // 2)
    term.missing = -1
    term.x = numbers[4]
    term.y = numbers[5]
    if term.kind == ORDERED and (i == <Py_ssize_t>occurring.size() or occurring[i] != first):
        add_place(requirement, facts[first, 0], facts[first, 1])  # steps begin with the first value
    while i < <Py_ssize_t>occurring.size() and occurring[i] <= last:
        local[i] = <int32_t>(requirement.facts.size() // 2)
        if occurring[i] == first + <int32_t>numbers[3]:
            term.missing = local[i] - term.first
        rows += facts[occurring[i], 0]
        n_above += facts[occurring[i], 0] > 0
        add_place(requirement, facts[occurring[i], 0], facts[occurring[i], 1])
        i += 1
    if term.kind == ORDERED:
        add_place(requirement, facts[last, 0], facts[last, 1])
    elif term.kind == CLOSE and rows < n_histograms * facts[first, 1]:  # the values that do not occur
        add_place(requirement, n_histograms * facts[first, 1] - rows, facts[first, 1])
    elif term.kind == SHARES and n_above < term.x:  # one of them must
        add_place(requirement, 1, 2)
    term.n = <int32_t>(requirement.facts.size() // 2) - term.first
    requirement.terms.push_back(term)


cdef inline void add_place(Requirement& requirement, double one, double other) noexcept nogil:
    requirement.facts.push_back(one)
    requirement.facts.push_back(other)


cdef inline void add_cover(Requirement& requirement, int32_t kind, double x, double y) noexcept nogil:
    """Add a condition on the population rows that the cells of a group cover."""
    requirement.covers = True
    if kind == COVERED:
        requirement.least_covered = max(requirement.least_covered, <int64_t>x)
    else:
        requirement.low_share = max(requirement.low_share, x)
        requirement.high_share = min(requirement.high_share, y)


# --- rows ---

cdef inline bint has_k_rows(const Requirement& requirement, Summary summary) noexcept nogil:
    return summary.rows >= requirement.rows


cdef inline Summary plus(Summary left, Summary right) noexcept nogil:
    left.rows += right.rows
    return left


cdef inline Summary minus(Summary whole, Summary part) noexcept nogil:
    whole.rows -= part.rows
    return whole


cdef inline Summary no_rows() noexcept nogil:
    cdef Summary summary
    summary.rows = 0
    return summary


cdef inline Summary rows_to_borrow(const Requirement& requirement, Summary have, Summary lender) noexcept nogil:
    """The fewest rows of a lender, at least one, that complete k rows; all of its rows if that is not enough.

    If people are counted, one row: the rows of an entry belong to one person.
    """
    cdef int64_t lacking = 1 if requirement.by_person else max(requirement.rows - have.rows, <int64_t>1)
    if lender.rows > lacking:
        lender.rows = lacking
    return lender


cdef inline bint is_fewer(Summary part, Summary whole) noexcept nogil:
    return part.rows < whole.rows


# --- models ---

cdef inline void add_to_tally(const Requirement& requirement, int64_t* tally, int32_t a_class, int64_t rows) noexcept nogil:
    """Add rows of a class to a tally."""
    cdef int32_t c
    for c in range(requirement.n_columns):
        tally[requirement.positions[a_class * requirement.n_columns + c]] += rows


cdef inline bint passes(const Requirement& requirement, int64_t size, Summary summary, const int64_t* tally) noexcept nogil:
    """Say whether a group of this size with these rows and this tally meets the requirement."""
    cdef size_t i
    if size < requirement.rows:
        return False
    for i in range(requirement.terms.size()):
        if not meets_term(
            requirement, requirement.terms[i], <double>size, <double>summary.rows, tally + requirement.terms[i].first
        ):
            return False
    return True


cdef inline bint meets_term(
    const Requirement& requirement, const Term& term, double size, double rows, const int64_t* counts,
) noexcept nogil:
    cdef const double* facts = requirement.facts.data() + 2 * term.first
    cdef int32_t i
    cdef double sum = 0
    if term.kind == CLOSE:
        return transport_work(term, rows, counts, facts) * term.y <= term.x * rows * facts[1]
    if term.kind == ORDERED:
        return ordered_work(requirement.steps, term, rows, counts, facts) * term.y <= term.x * rows * facts[1]
    if term.kind == SHARES:
        for i in range(term.n):
            if counts[i] < facts[2 * i] * rows or counts[i] > facts[2 * i + 1] * rows:
                return False
        return True
    if term.kind == PERSONAL_K:
        for i in range(term.n):
            if counts[i] > 0 and size < facts[2 * i]:
                return False
        return True
    return is_diverse(term, rows, counts)


cdef inline double transport_work(const Term& term, double rows, const int64_t* counts, const double* facts) noexcept nogil:
    """Sum of |count * total - rows * count in the table| over the values; the second fact is the total."""
    cdef double work = 0
    cdef int32_t i
    for i in range(term.n):
        work += fabs(counts[i] * facts[1] - facts[2 * i] * rows)
    return work


cdef inline double ordered_work(
    const int64_t* steps, const Term& term, double rows, const int64_t* counts, const double* facts,
) noexcept nogil:
    """Sum of |cumulative count * total - rows * cumulative count in the table| over the steps.

    From the step of one of its values to that of the next, a group's product stays and that of the table grows.
    """
    cdef double work = 0, here = 0
    cdef int64_t start, stop, low, high
    cdef int32_t i = 0, next
    while i < term.n - 1:
        here += counts[i] * facts[1]
        next = i + 1
        while next < term.n - 1 and counts[next] == 0:
            next += 1
        start, stop = <int64_t>facts[2 * i], <int64_t>facts[2 * next]
        low, high = start, stop
        while low < high:  # the first step at which the table has the larger product
            if steps[2 * ((low + high) // 2)] * rows <= here:
                low = (low + high) // 2 + 1
            else:
                high = (low + high) // 2
        work += here * (low - start) - rows * (steps[2 * low + 1] - steps[2 * start + 1])
        work += rows * (steps[2 * stop + 1] - steps[2 * low + 1]) - here * (stop - low)
        i = next
    return work


cdef inline bint is_diverse(const Term& term, double rows, const int64_t* counts) noexcept nogil:
    """Evaluate a diversity term; a missing value adds no diversity and counts as the most frequent value."""
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


cdef inline bint meets_cover(const Requirement& requirement, Summary summary, int64_t covered) noexcept nogil:
    """Say whether a group of these rows passes if its cells cover so many rows of the population."""
    if covered < requirement.least_covered or summary.rows < requirement.low_share * covered:
        return False
    return summary.rows <= requirement.high_share * covered
