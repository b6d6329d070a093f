# distutils: language = c++
"""KACA: merge classes of equal rows with the nearest class in the hierarchies. Twin: tests/naive/kaca.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.map cimport map as cpp_map
from libcpp.pair cimport pair
from libcpp.vector cimport vector

ctypedef pair[int64_t, int64_t] Rows        # a run of rows in canonical order, end exclusive
ctypedef pair[int64_t, int64_t] Climbs      # cost of the common label for the chosen class and for another
ctypedef vector[int32_t] Label


cdef class Classes:
    """Classes of rows, each with a label: a node of each attribute's tree. Class numbers are never reused."""

    cdef Py_ssize_t q
    cdef int64_t k, threshold
    cdef vector[vector[int32_t]] nodes          # of each attribute: node of each code, level after level
    cdef vector[int64_t] cards
    cdef vector[vector[int64_t]] climbs         # cost of generalising a value to each level
    cdef vector[vector[int32_t]] level          # of each node
    cdef vector[vector[int32_t]] below          # a code below each node
    cdef vector[vector[Climbs]] table           # by node: cost for the chosen class and for a class with this label
    cdef vector[int32_t] labels                 # of the existing classes, one after another
    cdef vector[int32_t] number                 # of the class at each of these places
    cdef vector[int64_t] sizes                  # rows of each class
    cdef vector[int32_t] place                  # of each class, -1 if it no longer exists
    cdef vector[vector[Rows]] members           # of each class, sorted
    cdef vector[int32_t] small                  # classes with fewer than k rows, sorted by label
    cdef cpp_map[Label, int32_t] by_label
    cdef vector[Rows] suppressed

    def __init__(
        self,
        const int32_t[:, ::1] codes,        # IN  codes of each tuple
        const int64_t[::1] counts,          # IN  rows of each tuple
        const int64_t[::1] cards,           # IN  number of codes of each attribute
        const int64_t[::1] heights,         # IN  number of levels above the codes
        const int32_t[::1] nodes,           # IN  node of each code at each level, attribute after attribute
        const int64_t[::1] climbs,          # IN  cost of generalising to each level, attribute after attribute
        int64_t k,                          # IN  minimum rows of a class
        int64_t threshold,                  # IN  distance beyond which a class is suppressed; negative: never
    ):
        cdef Py_ssize_t a, i
        cdef int64_t level, code, first = 0, node_at = 0, climb_at = 0
        cdef Label label
        cdef vector[Rows] own
        self.q, self.k, self.threshold = codes.shape[1], k, threshold
        self.nodes.resize(self.q)
        self.climbs.resize(self.q)
        self.level.resize(self.q)
        self.below.resize(self.q)
        self.table.resize(self.q)
        for a in range(self.q):
            self.cards.push_back(cards[a])
            for level in range(heights[a] + 1):
                self.climbs[a].push_back(climbs[climb_at])
                climb_at += 1
                for code in range(cards[a]):
                    self.nodes[a].push_back(nodes[node_at])
                    self.note(a, nodes[node_at], <int32_t>level, <int32_t>code, <int32_t>heights[a])
                    node_at += 1
            self.table[a].resize(self.level[a].size())
        label.resize(self.q)
        for i in range(codes.shape[0]):
            for a in range(self.q):
                label[a] = codes[i, a]
            own.assign(1, Rows(first, first + counts[i]))
            first += counts[i]
            self.add(label, own)

    cdef void note(self, Py_ssize_t a, int32_t node, int32_t level, int32_t code, int32_t height) noexcept nogil:
        """Record the level of a node and a code below it; the root is on the top level, wherever a path reaches it."""
        while <int32_t>self.level[a].size() <= node:
            self.level[a].push_back(-1)
            self.below[a].push_back(0)
        if self.level[a][node] < 0:
            self.below[a][node] = code
            self.level[a][node] = level
        if node == <int32_t>self.cards[a]:
            self.level[a][node] = height

    def merge(
        self,
        const uint64_t[::1] draws,       # IN  a random number for each step
    ) -> int:
        """Merge one small class for each random number; return the number of small classes left.

        Cost of a step: O(q) for each class.
        """
        cdef Py_ssize_t i
        with nogil:
            for i in range(draws.shape[0]):
                if self.small.empty():
                    break
                self.step(self.small[<int64_t>(draws[i] % <uint64_t>self.small.size())])
        return <int64_t>self.small.size()

    def fill(self, int32_t[::1] labels) -> None:
        """Write the class of each canonical row into labels (OUT), numbered without gaps; -1 for a suppressed row."""
        cdef Py_ssize_t i, j
        cdef int64_t row
        cdef vector[int32_t] numbers = self.number
        cpp_sort(numbers.begin(), numbers.end())
        for i in range(<Py_ssize_t>numbers.size()):
            for j in range(<Py_ssize_t>self.members[numbers[i]].size()):
                for row in range(self.members[numbers[i]][j].first, self.members[numbers[i]][j].second):
                    labels[row] = <int32_t>i
        for j in range(<Py_ssize_t>self.suppressed.size()):
            for row in range(self.suppressed[j].first, self.suppressed[j].second):
                labels[row] = -1

    cdef void step(self, int32_t one) noexcept nogil:
        """Merge a small class with the nearest class, or with as many of its rows as are needed."""
        cdef Py_ssize_t a
        cdef int64_t distance = 0, size = self.sizes[self.place[one]], wanted
        cdef int32_t other = self.nearest(one, &distance)
        cdef vector[Rows] rows = self.members[one], stub, trunk
        cdef Label label, kept
        if other < 0 or (self.threshold >= 0 and distance > self.threshold):
            self.remove(one)
            self.suppressed.insert(self.suppressed.end(), rows.begin(), rows.end())
            return
        for a in range(self.q):
            kept.push_back(self.label_of(other)[a])
            label.push_back(self.common(a, self.label_of(one)[a], kept[a]))
        wanted = self.sizes[self.place[other]]
        if size + wanted >= 2 * self.k:
            wanted = self.k - size
        split(self.members[other], wanted, stub, trunk)
        self.remove(one)
        self.remove(other)
        if not trunk.empty():
            self.add(kept, trunk)
        rows.insert(rows.end(), stub.begin(), stub.end())
        self.add(label, rows)

    cdef const int32_t* label_of(self, int32_t number) noexcept nogil:
        return self.labels.data() + <Py_ssize_t>self.place[number] * self.q

    cdef int32_t common(self, Py_ssize_t a, int32_t x, int32_t y) noexcept nogil:
        """Return the lowest common node of two nodes."""
        cdef int64_t level = max(self.level[a][x], self.level[a][y])
        cdef int64_t one = self.below[a][x], other = self.below[a][y]
        while self.nodes[a][level * self.cards[a] + one] != self.nodes[a][level * self.cards[a] + other]:
            level += 1
        return self.nodes[a][level * self.cards[a] + one] if x != y else x

    cdef int32_t nearest(self, int32_t one, int64_t* least) noexcept nogil:
        """Return the class at the smallest distance [S2 definition 10], ties by lowest label."""
        cdef Py_ssize_t a, i, own = self.place[one], best = -1, q = self.q
        cdef int64_t size = self.sizes[own], other, distance, first, second
        cdef int32_t node
        cdef const int32_t* label = self.labels.data()
        cdef const Climbs* climbs
        cdef vector[const Climbs*] tables
        for a in range(q):
            for node in range(<int32_t>self.level[a].size()):
                if self.level[a][node] >= 0:
                    self.table[a][node] = self.climb(a, self.labels[own * q + a], node)
            tables.push_back(self.table[a].data())
        for i in range(<Py_ssize_t>self.number.size()):
            other = self.sizes[i]
            if size + other >= 2 * self.k:
                other = self.k - size
            first = second = distance = 0
            for a in range(q):
                climbs = tables[a] + label[a]
                first += climbs.first
                second += climbs.second
                distance = size * first + other * second
                if best >= 0 and distance > least[0]:
                    break
            if i != own and (best < 0 or distance < least[0] or (distance == least[0] and self.before(i, best))):
                best = i
                least[0] = distance
            label += q
        return self.number[best] if best >= 0 else -1

    cdef Climbs climb(self, Py_ssize_t a, int32_t x, int32_t y) noexcept nogil:
        cdef int64_t top = self.climbs[a][self.level[a][self.common(a, x, y)]]
        return Climbs(top - self.climbs[a][self.level[a][x]], top - self.climbs[a][self.level[a][y]])

    cdef bint before(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Say whether the label at place i is less than that at place j."""
        cdef Py_ssize_t a
        for a in range(self.q):
            if self.labels[i * self.q + a] != self.labels[j * self.q + a]:
                return self.labels[i * self.q + a] < self.labels[j * self.q + a]
        return False

    cdef Py_ssize_t rank(self, Py_ssize_t place) noexcept nogil:
        """Return the index of the class at this place among the small classes."""
        cdef Py_ssize_t low = 0, high = <Py_ssize_t>self.small.size(), middle
        while low < high:
            middle = (low + high) // 2
            if self.before(self.place[self.small[middle]], place):
                low = middle + 1
            else:
                high = middle
        return low

    cdef void add(self, const Label& label, const vector[Rows]& rows) noexcept nogil:
        """Add a class, or add the rows to the class that has this label."""
        cdef Py_ssize_t i
        cdef int32_t number = <int32_t>self.place.size()
        cdef int64_t size = 0
        cdef vector[Rows] all_rows = rows
        cdef cpp_map[Label, int32_t].iterator found = self.by_label.find(label)
        if found != self.by_label.end():
            i = self.by_label[label]
            all_rows.insert(all_rows.end(), self.members[i].begin(), self.members[i].end())
            self.remove(<int32_t>i)
        cpp_sort(all_rows.begin(), all_rows.end())
        for i in range(<Py_ssize_t>all_rows.size()):
            size += all_rows[i].second - all_rows[i].first
        self.place.push_back(<int32_t>self.number.size())
        self.number.push_back(number)
        self.sizes.push_back(size)
        self.labels.insert(self.labels.end(), label.begin(), label.end())
        self.members.push_back(all_rows)
        self.by_label[label] = number
        if size < self.k:
            self.small.insert(self.small.begin() + self.rank(self.place[number]), number)

    cdef void remove(self, int32_t number) noexcept nogil:
        """Remove a class; the last class moves to its place."""
        cdef Py_ssize_t a, at = self.place[number], last = <Py_ssize_t>self.number.size() - 1
        cdef Label label
        label.assign(self.labels.begin() + at * self.q, self.labels.begin() + (at + 1) * self.q)
        if self.sizes[at] < self.k:
            self.small.erase(self.small.begin() + self.rank(at))
        self.by_label.erase(label)
        self.members[number].clear()
        for a in range(self.q):
            self.labels[at * self.q + a] = self.labels[last * self.q + a]
        self.number[at] = self.number[last]
        self.sizes[at] = self.sizes[last]
        self.place[self.number[at]] = <int32_t>at
        self.place[number] = -1
        self.number.pop_back()
        self.sizes.pop_back()
        self.labels.resize(last * self.q)


cdef void split(const vector[Rows]& rows, int64_t wanted, vector[Rows]& stub, vector[Rows]& trunk) noexcept nogil:
    """Split the first rows (stub) from the others (trunk)."""
    cdef Py_ssize_t i
    cdef int64_t first, end, cut
    for i in range(<Py_ssize_t>rows.size()):
        first, end = rows[i].first, rows[i].second
        cut = min(end, first + wanted)
        wanted -= cut - first
        if cut > first:
            stub.push_back(Rows(first, cut))
        if end > cut:
            trunk.push_back(Rows(cut, end))
