# The sum of squares inside the groups of a block, kept up to date while entries join and leave.
#
# Each entry lies at a point; entries of equal values share it. A number has a coordinate on a grid of integers, so sums of
# coordinates are exact. A category is a vector of indicators: two different values are 2 units apart.

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block
from shoal.kernels.shoaling.groups cimport Groups, add_entry, add_group, remove_entry, split_entry
from shoal.kernels.shoaling.requirement cimport Summary


cdef extern from *:
    """
    #include <cstdint>
    #include <vector>
    namespace shoaling {
    struct Spread {
        int32_t n_points = 0, p = 0, q = 0, n_values = 0;
        std::vector<double> places;         // points x p: coordinates
        std::vector<int32_t> values;        // points x q: values of the categories, numbered across categories
        std::vector<double> units;          // q: half the squared distance of two values
        std::vector<int32_t> point;         // of each entry
        std::vector<std::vector<int32_t>> at;   // entries at each point
        std::vector<double> sums, centers;  // groups x p
        std::vector<double> tallies;        // groups x values: rows with the value
        std::vector<double> alike;          // of each group: sum over categories of unit x squared rows of each value
        std::vector<double> squares;        // of each group: the sum of squares around its center
    };
    }
    """
    cppclass Spread "shoaling::Spread":
        int32_t n_points
        int32_t p
        int32_t q
        int32_t n_values
        vector[double] places
        vector[int32_t] values
        vector[double] units
        vector[int32_t] point
        vector[vector[int32_t]] at
        vector[double] sums
        vector[double] centers
        vector[double] tallies
        vector[double] alike
        vector[double] squares


cdef enum:
    LEAST = 1  # smaller sums of squares are rounding errors: two points differ by at least one step of the grid


# --- distances, all squared ---

cdef inline double between(const Spread& spread, int32_t one, int32_t other) noexcept nogil:
    """Distance of two points."""
    cdef double total = 0, gap
    cdef int32_t a
    for a in range(spread.p):
        gap = spread.places[<Py_ssize_t>one * spread.p + a] - spread.places[<Py_ssize_t>other * spread.p + a]
        total += gap * gap
    for a in range(spread.q):
        if spread.values[<Py_ssize_t>one * spread.q + a] != spread.values[<Py_ssize_t>other * spread.q + a]:
            total += 2 * spread.units[a]
    return total


cdef inline double to_center(const Spread& spread, const Groups& groups, int32_t g, int32_t point) noexcept nogil:
    """Distance of a point from the center of a group that is not empty."""
    cdef double total = 0, gap, rows = <double>groups.summary[g].rows
    cdef int32_t a
    for a in range(spread.p):
        gap = spread.places[<Py_ssize_t>point * spread.p + a] - spread.centers[<Py_ssize_t>g * spread.p + a]
        total += gap * gap
    if spread.q > 0:
        gap = 0
        for a in range(spread.q):
            gap += spread.units[a] * (
                rows - 2 * spread.tallies[<Py_ssize_t>g * spread.n_values + spread.values[<Py_ssize_t>point * spread.q + a]]
            )
        total += gap / rows + spread.alike[g] / (rows * rows)
    return total


cdef inline double joined(double rows, double more, double distance) noexcept nogil:
    """What rows at a distance from the center add to the sum of squares of a group of `rows`."""
    return rows * more / (rows + more) * distance


cdef inline double left(double rows, double fewer, double distance) noexcept nogil:
    """What rows at a distance from the center take from the sum of squares of a group of `rows`."""
    return rows * fewer / (rows - fewer) * distance if rows > fewer else 0


cdef inline double replaced(
    const Spread& spread, const Groups& groups, int32_t g, int32_t out, double gone, int32_t new, double come,
) noexcept nogil:
    """What the sum of squares of a group gains if rows at the point `out` leave and rows at the point `new` join."""
    cdef double rows = <double>groups.summary[g].rows, share, distance
    cdef double of_out = to_center(spread, groups, g, out), of_new = to_center(spread, groups, g, new)
    if rows <= gone:
        return -spread.squares[g]
    # The center moves away from the rows that leave, by this share of their distance.
    share = gone / (rows - gone)
    distance = (1 + share) * of_new - share * between(spread, out, new) + share * (1 + share) * of_out
    return joined(rows - gone, come, distance) - left(rows, gone, of_out)


# --- groups and entries ---

cdef inline int32_t open_group(const Block& block, Groups& groups, Spread& spread) noexcept nogil:
    """Add an empty group and return its number."""
    cdef int32_t g = add_group(block, groups)
    spread.sums.resize(<size_t>(g + 1) * spread.p, 0)
    spread.centers.resize(<size_t>(g + 1) * spread.p, 0)
    spread.tallies.resize(<size_t>(g + 1) * spread.n_values, 0)
    spread.alike.push_back(0)
    spread.squares.push_back(0)
    return g


cdef inline void count_rows(const Block& block, const Groups& groups, Spread& spread, int32_t g, int32_t e, double rows) noexcept nogil:
    """Add the rows of an entry, or take them away if negative; the group already counts them."""
    cdef int32_t a, point = spread.point[e]
    cdef double total = <double>groups.summary[g].rows
    cdef double* tally
    for a in range(spread.p):
        spread.sums[<Py_ssize_t>g * spread.p + a] += rows * spread.places[<Py_ssize_t>point * spread.p + a]
        if total > 0:
            spread.centers[<Py_ssize_t>g * spread.p + a] = spread.sums[<Py_ssize_t>g * spread.p + a] / total
    for a in range(spread.q):
        tally = &spread.tallies[<Py_ssize_t>g * spread.n_values + spread.values[<Py_ssize_t>point * spread.q + a]]
        spread.alike[g] += spread.units[a] * rows * (2 * tally[0] + rows)
        tally[0] += rows


cdef inline void put(const Block& block, Groups& groups, Spread& spread, int32_t g, int32_t e) noexcept nogil:
    """Put an entry into a group."""
    cdef double rows = <double>block.entries[e].rows
    if not groups.members[g].empty():
        spread.squares[g] += joined(<double>groups.summary[g].rows, rows, to_center(spread, groups, g, spread.point[e]))
    add_entry(block, groups, g, e)
    count_rows(block, groups, spread, g, e, rows)


cdef inline void take(const Block& block, Groups& groups, Spread& spread, int32_t e) noexcept nogil:
    """Take an entry out of its group."""
    cdef int32_t g = groups.group[e]
    cdef double rows = <double>block.entries[e].rows
    spread.squares[g] -= left(<double>groups.summary[g].rows, rows, to_center(spread, groups, g, spread.point[e]))
    remove_entry(block, groups, e)
    count_rows(block, groups, spread, g, e, -rows)
    if spread.squares[g] < LEAST or groups.members[g].size() < 2:
        spread.squares[g] = 0


cdef inline int32_t divide(Block& block, Groups& groups, Spread& spread, int32_t e, int64_t rows) noexcept nogil:
    """Split some rows off an entry into a new entry of the same group; return its number."""
    cdef Summary part
    part.rows = rows
    cdef int32_t new = split_entry(block, groups, e, part)
    spread.point.push_back(spread.point[e])
    spread.at[spread.point[e]].push_back(new)
    return new


# --- loading ---

cdef inline void load_points(
    const int32_t[::1] points, const double[:, ::1] places, const int32_t[:, ::1] values, const double[::1] units,
    Spread& spread,
) noexcept nogil:
    """Load the points; values: numbered across categories."""
    cdef Py_ssize_t i, a
    spread.n_points = <int32_t>places.shape[0]
    spread.p = <int32_t>places.shape[1]
    spread.q = <int32_t>values.shape[1]
    spread.at.resize(spread.n_points)
    for i in range(spread.n_points):
        for a in range(spread.p):
            spread.places.push_back(places[i, a])
        for a in range(spread.q):
            spread.values.push_back(values[i, a])
            spread.n_values = max(spread.n_values, values[i, a] + 1)
    for a in range(spread.q):
        spread.units.push_back(units[a])
    for i in range(points.shape[0]):
        spread.point.push_back(points[i])
        spread.at[points[i]].push_back(<int32_t>i)
