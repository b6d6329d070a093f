# The groups of methods that merge small groups: numbers that are never reused, members, and a queue of small groups.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.queue cimport priority_queue
from libcpp.vector cimport vector

from shoal.kernels.clustering.union_price cimport Forms, unite, write_tuple

ctypedef pair[int32_t, int64_t] Piece           # a tuple, and the number of its rows
ctypedef pair[int32_t, int32_t] Named           # the lowest tuple of a group, and its number
ctypedef pair[int64_t, Named] Small             # its rows; all negated, so that the smallest is on top


cdef extern from *:
    """
    #include <cstdint>
    #include <queue>
    #include <utility>
    #include <vector>
    namespace merging {
    struct Roster {
        int64_t n_small = 0;                    // groups of fewer than k rows
        std::vector<uint64_t> words;            // of the existing groups, one after another
        std::vector<int32_t> number;            // of the group at each of these places
        std::vector<int64_t> rows;              // of the existing groups
        std::vector<int32_t> lowest;            // their lowest tuples
        std::vector<int32_t> place;             // of each group, -1 if it no longer exists
        std::vector<std::vector<std::pair<int32_t, int64_t>>> members;  // of each group, sorted
        std::priority_queue<std::pair<int64_t, std::pair<int32_t, int32_t>>> queue;
    };
    }
    """
    cppclass Roster "merging::Roster":
        int64_t n_small
        vector[uint64_t] words
        vector[int32_t] number
        vector[int64_t] rows
        vector[int32_t] lowest
        vector[int32_t] place
        vector[vector[Piece]] members
        priority_queue[Small] queue


cdef inline void enter_group(
    const Forms& forms, const int32_t[:, ::1] codes, int64_t k, const vector[Piece]& members, Roster& roster,
) noexcept nogil:
    """Make a group of these members, which are sorted."""
    cdef Py_ssize_t i, begin = <Py_ssize_t>roster.words.size()
    cdef int32_t number = <int32_t>roster.place.size()
    cdef int64_t rows = 0
    cdef vector[uint64_t] one
    one.resize(forms.width)
    roster.words.resize(begin + forms.width)
    for i in range(<Py_ssize_t>members.size()):
        rows += members[i].second
        write_tuple(forms, &codes[members[i].first, 0], one.data())
        if i == 0:
            write_tuple(forms, &codes[members[i].first, 0], roster.words.data() + begin)
        else:
            unite(forms, roster.words.data() + begin, one.data())
    roster.place.push_back(<int32_t>roster.number.size())
    roster.number.push_back(number)
    roster.rows.push_back(rows)
    roster.lowest.push_back(members[0].first)
    roster.members.push_back(members)
    if rows < k:
        roster.n_small += 1
        roster.queue.push(Small(-rows, Named(-members[0].first, -number)))


cdef inline void strike_group(const Forms& forms, int64_t k, int32_t number, Roster& roster) noexcept nogil:
    """Remove a group; the last group moves to its place."""
    cdef Py_ssize_t w, at = roster.place[number], last = <Py_ssize_t>roster.number.size() - 1
    roster.n_small -= roster.rows[at] < k
    for w in range(forms.width):
        roster.words[at * forms.width + w] = roster.words[last * forms.width + w]
    roster.number[at] = roster.number[last]
    roster.rows[at] = roster.rows[last]
    roster.lowest[at] = roster.lowest[last]
    roster.place[roster.number[at]] = <int32_t>at
    roster.place[number] = -1
    roster.members[number].clear()
    roster.number.pop_back()
    roster.rows.pop_back()
    roster.lowest.pop_back()
    roster.words.resize(last * forms.width)


cdef inline int32_t pop_smallest(Roster& roster) noexcept nogil:
    """Return the existing group with the fewest rows, ties by lowest tuple."""
    cdef int32_t number = -1
    while number < 0 or roster.place[number] < 0:
        number = -roster.queue.top().second.second
        roster.queue.pop()
    return number


cdef inline vector[int32_t] sorted_numbers(const Roster& roster) noexcept nogil:
    """Return the numbers of the existing groups, ascending."""
    cdef vector[int32_t] numbers = roster.number
    cpp_sort(numbers.begin(), numbers.end())
    return numbers


cdef inline Py_ssize_t write_pieces(
    const Roster& roster, const vector[int32_t]& numbers,
    int32_t[::1] tuples,            # OUT tuple of each piece, as far as there is room
    int64_t[::1] rows,              # OUT rows of each piece
    int32_t[::1] groups,            # OUT group of each piece, renumbered in the order of the numbers
) noexcept nogil:
    """Write the pieces of these groups; return the number of pieces."""
    cdef Py_ssize_t i, j, n = 0
    for i in range(<Py_ssize_t>numbers.size()):
        for j in range(<Py_ssize_t>roster.members[numbers[i]].size()):
            if n < tuples.shape[0]:
                tuples[n] = roster.members[numbers[i]][j].first
                rows[n] = roster.members[numbers[i]][j].second
                groups[n] = <int32_t>i
            n += 1
    return n
