# distutils: language = c++
"""Put ungrouped rows into the group to which they add the least loss. Twin: tests/naive/leftovers.py."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from shoal.kernels.clustering.union_price cimport NO_LIMIT, Forms, lay_forms, unite, union_price, write_tuple


def join_groups(
    const int32_t[:, ::1] codes,        # IN  codes of each tuple
    const int32_t[::1] row_tuple,       # IN  tuple of each row
    object arrays,                      # IN  the attributes: the arrays that lay_forms reads
    const int64_t[::1] rest,            # IN  ungrouped rows, in the order in which they are placed
    int64_t n_groups,                   # IN  number of groups
    int32_t[::1] labels,                # IN and OUT  group of each row, negative for none
) -> None:
    """Put each ungrouped row into the group whose cost it raises least, ties by lowest number.

    Cost: O(q) for each pair of such a row and a group.
    """
    cdef Forms forms
    cdef vector[uint64_t] words, one
    cdef vector[int64_t] sizes, prices
    cdef Py_ssize_t i, g, best
    cdef int64_t price, least, added
    lay_forms(arrays, forms)
    with nogil:
        words.resize(n_groups * forms.width)
        one.resize(forms.width)
        sizes.assign(n_groups, 0)
        for i in range(labels.shape[0]):
            g = labels[i]
            if g < 0:
                continue
            write_tuple(forms, &codes[row_tuple[i], 0], one.data())
            if sizes[g] == 0:
                write_tuple(forms, &codes[row_tuple[i], 0], words.data() + g * forms.width)
            else:
                unite(forms, words.data() + g * forms.width, one.data())
            sizes[g] += 1
        for g in range(n_groups):
            one.assign(words.begin() + g * forms.width, words.begin() + (g + 1) * forms.width)
            prices.push_back(union_price(forms, one.data(), one.data(), NO_LIMIT))
        for i in range(rest.shape[0]):
            write_tuple(forms, &codes[row_tuple[rest[i]], 0], one.data())
            best, least = -1, 0
            for g in range(n_groups):
                price = union_price(forms, words.data() + g * forms.width, one.data(), NO_LIMIT)
                added = (sizes[g] + 1) * price - sizes[g] * prices[g]
                if best < 0 or added < least:
                    best, least = g, added
            unite(forms, words.data() + best * forms.width, one.data())
            sizes[best] += 1
            prices[best] = union_price(
                forms, words.data() + best * forms.width, words.data() + best * forms.width, NO_LIMIT
            )
            labels[rest[i]] = <int32_t>best
