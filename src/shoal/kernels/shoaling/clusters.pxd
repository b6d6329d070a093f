# Agglomeration inside a block: clusters of entries merge, nearest first, until they meet the requirement.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.algorithm cimport sort as cpp_sort
from libcpp.pair cimport pair
from libcpp.queue cimport priority_queue
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport RANGE, REACH, TREE, Block
from shoal.kernels.shoaling.nearest cimport FAR, find_nearest
from shoal.kernels.shoaling.packed cimport BY_BITS, BY_RANGE, BY_REACH, BY_TREE, Layout, lay_out, union_price
from shoal.kernels.shoaling.population cimport covered_rows
from shoal.kernels.shoaling.requirement cimport Summary, add_to_tally, meets_cover, plus, passes
from shoal.kernels.shoaling.groups cimport (
    MAX_PRICE, Groups, cost_of, add_group, price_exchanged, price_with, add_entry, passes_with, passes_without, remove_entry,
)


cdef extern from *:
    """
    namespace shoaling {
    // A candidate for a merge: its distance (key), its slot, and the version of the cluster in that slot.
    struct Candidate {
        double key; int32_t slot; int32_t version;
        Candidate() = default;
        Candidate(double k, int32_t s, int32_t v) : key(k), slot(s), version(v) {}
    };
    // The clusters of a block that do not meet the requirement yet. A cluster uses the slot of one of its entries; every
    // new cluster of a slot has a new version, which tells candidates whose cluster no longer exists.
    struct Clusters {
        Layout layout;
        std::vector<uint64_t> words;
        std::vector<Summary> summary;
        std::vector<std::vector<int32_t>> people;   // of each slot, ascending; empty if rows are counted
        std::vector<int64_t> tally;             // slots x places of the tally
        std::vector<int32_t> price, version;
        std::vector<int32_t> alive, spot;       // slots in use; index of a slot in `alive`, or -1
        std::vector<std::vector<int32_t>> members;
        std::vector<std::vector<Candidate>> near;   // nearest last
        std::vector<uint8_t> all_near;          // `near` contains every other cluster
    };
    }
    """
    cppclass Candidate "shoaling::Candidate":
        Candidate() noexcept nogil
        Candidate(double key, int32_t slot, int32_t version) noexcept nogil
        double key
        int32_t slot
        int32_t version

    cppclass Clusters "shoaling::Clusters":
        Layout layout
        vector[uint64_t] words
        vector[Summary] summary
        vector[vector[int32_t]] people
        vector[int64_t] tally
        vector[int32_t] price
        vector[int32_t] version
        vector[int32_t] alive
        vector[int32_t] spot
        vector[vector[int32_t]] members
        vector[vector[Candidate]] near
        vector[uint8_t] all_near


# (-key, (-slot, version)): the top of the queue has the smallest key, then the lowest slot.
ctypedef pair[int32_t, int32_t] Owner
ctypedef pair[double, Owner] Offer

cdef enum:
    N_CANDIDATES = 6        # kept from a scan
    NO_PRICE = 1 << 30  # above every price


cdef inline void grow_groups(const Block& block, Groups& groups) noexcept nogil:
    """Put every entry of the block into a group. The distance of two clusters is what a row loses by their merge."""
    cdef Clusters clusters
    cdef priority_queue[Offer] queue
    cdef Offer offer
    cdef Candidate best
    cdef int32_t e, slot
    cdef vector[int32_t] back
    start_clusters(block, clusters)
    for e in range(block.n):
        if cluster_passes(block, clusters, e):
            add_entry(block, groups, add_group(block, groups), e)
        else:
            activate(clusters, e)
    first_scans(block, clusters)
    for e in range(<int32_t>clusters.alive.size()):
        offer_nearest(clusters, clusters.alive[e], queue)
    while not queue.empty():
        offer = queue.top()
        queue.pop()
        slot = -offer.second.first
        if clusters.spot[slot] < 0 or clusters.version[slot] != offer.second.second:
            continue
        best = clusters.near[slot].back()
        if clusters.spot[best.slot] < 0 or clusters.version[best.slot] != best.version:
            drop_dead(clusters, slot)
            if clusters.near[slot].empty() and not clusters.all_near[slot]:
                scan(block, clusters, slot)
            offer_nearest(clusters, slot, queue)
            continue
        slot = merge(block, clusters, min(slot, best.slot), max(slot, best.slot))
        if not cluster_passes(block, clusters, slot):
            scan(block, clusters, slot)
            offer_nearest(clusters, slot, queue)
            continue
        back.clear()
        close_cluster(block, clusters, slot, groups, back)
        for e in range(<int32_t>back.size()):
            scan(block, clusters, back[e])
            activate(clusters, back[e])
            offer_nearest(clusters, back[e], queue)
    # Several clusters remain only if people are counted: any two of them have a person in common.
    cpp_sort(clusters.alive.begin(), clusters.alive.end())
    for e in range(<int32_t>clusters.alive.size()):
        place_singly(block, groups, clusters.members[clusters.alive[e]])


cdef inline void start_clusters(const Block& block, Clusters& clusters) noexcept nogil:
    """Make each entry a cluster of its own, not yet active."""
    cdef int32_t e
    lay_out(block, clusters.layout)
    clusters.words.assign(<size_t>clusters.layout.width * block.n, 0)
    clusters.price.assign(block.n, 0)
    clusters.version.assign(block.n, -1)
    clusters.spot.assign(block.n, -1)
    clusters.all_near.assign(block.n, 0)
    clusters.near.resize(block.n)
    clusters.members.resize(block.n)
    clusters.summary.resize(block.n)
    clusters.people.resize(block.n)
    clusters.tally.assign(<size_t>block.n * block.requirement.n_tallies, 0)
    for e in range(block.n):
        make_single(block, clusters, e)


cdef inline void make_single(const Block& block, Clusters& clusters, int32_t e) noexcept nogil:
    cdef int32_t a, c, w, q = block.q
    cdef uint64_t place
    cdef uint64_t* words = clusters.words.data() + <Py_ssize_t>e * clusters.layout.width
    for w in range(clusters.layout.width):
        words[w] = 0
    for a in range(q):
        w = clusters.layout.first_word[a]
        c = block.codes[e * q + a]
        if block.kinds[a] == RANGE or block.kinds[a] == TREE or block.kinds[a] == REACH:
            place = <uint64_t>(block.place[block.base[a] + c] if block.kinds[a] == RANGE else c)
            words[w] = place << 32 | place
        else:
            c += clusters.layout.first_bit[a]
            words[w + (c >> 6)] |= <uint64_t>1 << (c & 63)
    clusters.price[e] = 0
    clusters.summary[e] = block.entries[e]
    if block.n_people > 0:
        clusters.people[e].assign(1, block.person[e])
    for w in range(block.requirement.n_tallies):
        clusters.tally[<Py_ssize_t>e * block.requirement.n_tallies + w] = 0
    add_to_tally(block.requirement, tally_of(block, clusters, e), block.classes[e], block.entries[e].rows)
    clusters.version[e] += 1
    clusters.members[e].assign(1, e)
    clusters.near[e].clear()


cdef inline int64_t* tally_of(const Block& block, Clusters& clusters, int32_t slot) noexcept nogil:
    return clusters.tally.data() + <Py_ssize_t>slot * block.requirement.n_tallies


cdef inline bint cluster_passes(const Block& block, Clusters& clusters, int32_t slot) noexcept nogil:
    cdef int64_t size = clusters.summary[slot].rows
    if block.n_people > 0:
        size = <int64_t>clusters.people[slot].size()
    if not passes(block.requirement, size, clusters.summary[slot], tally_of(block, clusters, slot)):
        return False
    if not block.requirement.covers:
        return True
    return meets_cover(block.requirement, clusters.summary[slot], covered_rows(block, clusters.members[slot], -1, -1, -1))


cdef inline void activate(Clusters& clusters, int32_t slot) noexcept nogil:
    clusters.spot[slot] = <int32_t>clusters.alive.size()
    clusters.alive.push_back(slot)


cdef inline void deactivate(Clusters& clusters, int32_t slot) noexcept nogil:
    cdef int32_t last = clusters.alive.back()
    clusters.alive[clusters.spot[slot]] = last
    clusters.spot[last] = clusters.spot[slot]
    clusters.alive.pop_back()
    clusters.spot[slot] = -1


cdef inline void keep_near(vector[Candidate]& near, double key, int32_t slot, int32_t version) noexcept nogil:
    """Insert a candidate; the list descends by (key, slot) and has at most N_CANDIDATES elements."""
    cdef size_t i
    cdef Candidate candidate = Candidate(key, slot, version)
    if near.size() < N_CANDIDATES:
        near.insert(near.begin(), candidate)
    i = 0
    while i + 1 < near.size() and (near[i + 1].key > key or (near[i + 1].key == key and near[i + 1].slot > slot)):
        near[i] = near[i + 1]
        i += 1
    near[i] = candidate


cdef inline bint shares_person(const Clusters& clusters, int32_t slot, int32_t other) noexcept nogil:
    """Say whether two clusters have rows of one person; never if rows are counted."""
    cdef size_t i = 0, j = 0, n = clusters.people[slot].size(), m = clusters.people[other].size()
    while i < n and j < m:
        if clusters.people[slot][i] == clusters.people[other][j]:
            return True
        if clusters.people[slot][i] < clusters.people[other][j]:
            i += 1
        else:
            j += 1
    return False


cdef inline void first_scans(const Block& block, Clusters& clusters) noexcept nogil:
    """Find the nearest neighbours of every single entry."""
    cdef int32_t i, e, at
    cdef vector[int32_t] worst, near, kept
    cdef vector[uint8_t] absent
    absent.assign(block.n, 1)
    worst.assign(block.n, -1)
    for i in range(<int32_t>clusters.alive.size()):
        absent[clusters.alive[i]] = 0
        worst[clusters.alive[i]] = FAR
    find_nearest(block, N_CANDIDATES, absent, worst, near, kept)
    for i in range(<int32_t>clusters.alive.size()):
        e = clusters.alive[i]
        clusters.near[e].reserve(N_CANDIDATES)
        for at in range(N_CANDIDATES * e + N_CANDIDATES - 1, N_CANDIDATES * e - 1, -1):
            if near[at] >= 0:
                clusters.near[e].push_back(Candidate(kept[at], near[at], clusters.version[near[at]]))
        clusters.all_near[e] = clusters.near[e].size() < N_CANDIDATES


cdef inline void scan(const Block& block, Clusters& clusters, int32_t slot) noexcept nogil:
    """Find the nearest neighbours of a cluster among the active ones."""
    cdef int32_t i, j, price, limit, width = clusters.layout.width, n = <int32_t>clusters.alive.size()
    cdef double mean, worst = NO_PRICE, key
    cdef const int32_t* prices = clusters.price.data()
    cdef const Summary* summary = clusters.summary.data()
    cdef const uint64_t* words = clusters.words.data()
    cdef const uint64_t* own = words + <Py_ssize_t>slot * width
    cdef int64_t rows = summary[slot].rows, cost = rows * prices[slot]
    cdef vector[Candidate]* near = &clusters.near[slot]
    near.clear()
    for i in range(n):
        j = clusters.alive[i]
        # The key is the price minus the mean price of both, and the mean is at most the greater price.
        limit = <int32_t>worst + max(prices[slot], prices[j])
        price = union_price(block, clusters.layout, own, words + <Py_ssize_t>j * width, limit)
        if price > limit or j == slot:
            continue
        mean = <double>(cost + summary[j].rows * prices[j]) / <double>(rows + summary[j].rows)
        key = price - mean
        if (key < worst or (key == worst and j < near.front().slot)) and not shares_person(clusters, slot, j):
            keep_near(near[0], key, j, clusters.version[j])
            if near.size() == N_CANDIDATES:
                worst = near.front().key
    clusters.all_near[slot] = near.size() < N_CANDIDATES


cdef inline void drop_dead(Clusters& clusters, int32_t slot) noexcept nogil:
    """Drop the nearest candidates up to the first that still exists."""
    cdef vector[Candidate]* near = &clusters.near[slot]
    cdef Candidate candidate
    while not near.empty():
        candidate = near.back()
        if clusters.spot[candidate.slot] >= 0 and clusters.version[candidate.slot] == candidate.version:
            break
        near.pop_back()


cdef inline void offer_nearest(Clusters& clusters, int32_t slot, priority_queue[Offer]& queue) noexcept nogil:
    if not clusters.near[slot].empty():
        queue.push(Offer(-clusters.near[slot].back().key, Owner(-slot, clusters.version[slot])))


cdef inline int32_t merge(const Block& block, Clusters& clusters, int32_t slot, int32_t other) noexcept nogil:
    """Merge two clusters into a new cluster in the slot of the first."""
    cdef int32_t i, w
    cdef uint64_t low, high
    cdef uint64_t* x = clusters.words.data() + <Py_ssize_t>slot * clusters.layout.width
    cdef const uint64_t* y = clusters.words.data() + <Py_ssize_t>other * clusters.layout.width
    clusters.price[slot] = union_price(block, clusters.layout, x, y, 2147483647)
    for i in range(<int32_t>clusters.layout.pieces.size()):
        w = clusters.layout.pieces[i].word
        if clusters.layout.pieces[i].kind in (BY_RANGE, BY_TREE, BY_REACH):
            low = min(x[w] >> 32, y[w] >> 32)
            high = max(<uint64_t><uint32_t>x[w], <uint64_t><uint32_t>y[w])
            x[w] = low << 32 | high
            continue
        x[w] |= y[w]
        if clusters.layout.pieces[i].kind == BY_BITS:
            for w in range(w + 1, clusters.layout.pieces[i].end):
                x[w] |= y[w]
    clusters.summary[slot] = plus(clusters.summary[slot], clusters.summary[other])
    for i in range(block.requirement.n_tallies):
        tally_of(block, clusters, slot)[i] += tally_of(block, clusters, other)[i]
    if block.n_people > 0:
        unite_people(clusters.people[slot], clusters.people[other])
    clusters.members[slot].insert(
        clusters.members[slot].end(), clusters.members[other].begin(), clusters.members[other].end()
    )
    clusters.version[slot] += 1
    deactivate(clusters, other)
    return slot


cdef inline void unite_people(vector[int32_t]& people, const vector[int32_t]& others) noexcept nogil:
    """Add the people of another cluster; both lists ascend."""
    cdef vector[int32_t] both
    cdef size_t i = 0, j = 0
    while i < people.size() or j < others.size():
        if j == others.size() or (i < people.size() and people[i] < others[j]):
            both.push_back(people[i])
            i += 1
        else:
            i += i < people.size() and people[i] == others[j]
            both.push_back(others[j])
            j += 1
    people.swap(both)


cdef inline void close_cluster(
    const Block& block, Clusters& clusters, int32_t slot, Groups& groups,
    vector[int32_t]& back,          # OUT entries that leave the cluster
) noexcept nogil:
    """Turn a cluster into a group, without the entries that it can spare and whose removal lowers its price."""
    cdef int32_t i, e, best, price, least, g = add_group(block, groups)
    deactivate(clusters, slot)
    for i in range(<int32_t>clusters.members[slot].size()):
        add_entry(block, groups, g, clusters.members[slot][i])
    while True:
        best = -1
        least = groups.price[g] + 1
        for i in range(<int32_t>groups.members[g].size()):
            e = groups.members[g][i]
            price = price_exchanged(block, groups, g, e, -1, MAX_PRICE)
            if (price < least or (price == least and best >= 0 and e < best)) and passes_without(block, groups, g, e):
                best = e
                least = price
        if best < 0:
            break
        remove_entry(block, groups, best)
        back.push_back(best)
    for i in range(<int32_t>back.size()):
        make_single(block, clusters, back[i])


cdef inline void place_singly(const Block& block, Groups& groups, const vector[int32_t]& entries) noexcept nogil:
    """Put each entry into the group where it adds the least cost; if there is no group, put all into a new one.

    Groups that still pass come before groups that do not.
    """
    cdef int32_t i, e, g, best
    cdef int64_t added, least
    cdef bint fits, best_fits
    cdef int32_t n_groups = <int32_t>groups.price.size()
    if n_groups == 0:
        g = add_group(block, groups)
        for i in range(<int32_t>entries.size()):
            add_entry(block, groups, g, entries[i])
        return
    for i in range(<int32_t>entries.size()):
        e = entries[i]
        best = -1
        least = 0
        best_fits = False
        for g in range(n_groups):
            added = plus(groups.summary[g], block.entries[e]).rows * price_with(block, groups, g, e, MAX_PRICE) - cost_of(groups, g)
            if best >= 0 and best_fits and added >= least:
                continue
            fits = passes_with(block, groups, g, e)
            if best < 0 or fits > best_fits or (fits == best_fits and added < least):
                best = g
                least = added
                best_fits = fits
        add_entry(block, groups, best, e)
