# The points near each point of a block, among all points and among the sparser ones, by k-d trees.
#
# The nearest points of an outlier lie where the table is dense, in groups that are better off without it. So that outliers
# meet each other, the sparser half of all points has a list of its own, the sparser half of these another one, and so on.

from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport Block
from shoal.kernels.variance.spread cimport Spread, between

cdef enum:
    N_NEAR = 6      # nearest points that a proposal may choose
    N_LEVELS = 7    # lists of each point at most
    LEAF = 8        # most points of a leaf


cdef struct Node:
    int32_t start, stop     # points of the node, in the order of the tree
    int32_t axis            # coordinate of the cut; -1 for a leaf
    int32_t upper           # number of the upper child; the lower child follows its parent
    double at               # place of the cut


cdef inline void find_levels(
    const Block& block, const Spread& spread, vector[vector[int32_t]]& near, vector[vector[int32_t]]& walk,
) noexcept nogil:
    """Write the nearest points of each point among all, among the sparser half of them, and so on."""
    cdef vector[int32_t] order
    cdef vector[pair[double, int32_t]] sparse
    cdef vector[double] reach
    cdef int32_t i, level, n
    cdef int64_t rows
    cdef size_t j
    for i in range(spread.n_points):
        order.push_back(i)
    reach.assign(spread.n_points, 0)
    for level in range(N_LEVELS):
        near.push_back(vector[int32_t]())
        walk.push_back(vector[int32_t]())
        if level == 0:
            near[0].assign(<size_t>spread.n_points * N_NEAR, -1)
        else:
            near[level] = near[0]
        find_near_points(spread, order, near[level], walk[level], reach)
        if level == 0:
            for i in range(spread.n_points):
                rows = 0
                for j in range(spread.at[i].size()):
                    rows += block.entries[spread.at[i][j]].rows
                if rows < block.requirement.rows:
                    sparse.push_back(pair[double, int32_t](-reach[i], i))
            cpp_sort(sparse.begin(), sparse.end())
        n = min(<int32_t>sparse.size(), spread.n_points >> (level + 1))
        if n <= 4 * N_NEAR:
            return
        order.clear()
        for i in range(n):
            order.push_back(sparse[i].second)


cdef inline void find_near_points(
    const Spread& spread, vector[int32_t]& order, vector[int32_t]& near, vector[int32_t]& walk, vector[double]& reach,
) noexcept nogil:
    """Write the nearest of some points for each of them, nearest first, ties by number; -1 if there are fewer.

    Also write a walk through their entries that stays near where it is.
    """
    cdef vector[Node] tree
    cdef vector[double] kept
    cdef int32_t i, n = <int32_t>order.size(), point
    cdef size_t j
    grow_tree(spread, tree, order, 0, n)
    for i in range(n):
        point = order[i]
        kept.assign(N_NEAR, 1e300)
        for j in range(N_NEAR):
            near[<Py_ssize_t>point * N_NEAR + j] = -1
        look_near(spread, tree, order, 0, point, N_NEAR, near.data() + <Py_ssize_t>point * N_NEAR, kept.data())
        reach[point] = kept[N_NEAR - 1]
        for j in range(spread.at[point].size()):
            walk.push_back(spread.at[point][j])


cdef inline void grow_tree(
    const Spread& spread, vector[Node]& tree, vector[int32_t]& order, int32_t start, int32_t stop,
) noexcept nogil:
    """Cut points at the median of their widest coordinate, down to leaves of a few points."""
    cdef vector[pair[double, int32_t]] places
    cdef Node node
    cdef int32_t a, i, number = <int32_t>tree.size(), middle = (start + stop) // 2
    cdef double place, low, high, widest = 0
    node.start, node.stop, node.axis, node.upper, node.at = start, stop, -1, -1, 0
    if stop - start > LEAF:
        for a in range(spread.p):
            low, high = 1e300, -1e300
            for i in range(start, stop):
                place = spread.places[<Py_ssize_t>order[i] * spread.p + a]
                low = place if place < low else low
                high = place if place > high else high
            if high - low > widest:
                widest = high - low
                node.axis = a
    tree.push_back(node)
    if node.axis < 0:
        return
    for i in range(start, stop):
        places.push_back(pair[double, int32_t](spread.places[<Py_ssize_t>order[i] * spread.p + node.axis], order[i]))
    cpp_sort(places.begin(), places.end())
    for i in range(start, stop):
        order[i] = places[i - start].second
    tree[number].at = places[middle - start].first
    grow_tree(spread, tree, order, start, middle)
    tree[number].upper = <int32_t>tree.size()
    grow_tree(spread, tree, order, middle, stop)


cdef inline void look_near(
    const Spread& spread, const vector[Node]& tree, const vector[int32_t]& order, int32_t number, int32_t point,
    int32_t width, int32_t* near, double* kept,
) noexcept nogil:
    """Improve the nearest points of a point by those of a node, where they can be near enough."""
    cdef Node node = tree[number]
    cdef int32_t i, j, at
    cdef double distance, gap
    if node.axis >= 0:
        gap = spread.places[<Py_ssize_t>point * spread.p + node.axis] - node.at
        look_near(spread, tree, order, number + 1 if gap < 0 else node.upper, point, width, near, kept)
        if gap * gap <= kept[width - 1]:
            look_near(spread, tree, order, node.upper if gap < 0 else number + 1, point, width, near, kept)
        return
    for i in range(node.start, node.stop):
        j = order[i]
        if j == point:
            continue
        distance = between(spread, point, j)
        if distance > kept[width - 1] or (distance == kept[width - 1] and j > near[width - 1]):
            continue
        at = width - 1
        while at > 0 and (kept[at - 1] > distance or (kept[at - 1] == distance and near[at - 1] > j)):
            kept[at] = kept[at - 1]
            near[at] = near[at - 1]
            at -= 1
        kept[at] = distance
        near[at] = j
