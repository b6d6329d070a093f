# Groups grown bottom-up inside a block: clusters of entries merge, the nearest first, until they are ripe.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.pair cimport pair
from libcpp.queue cimport priority_queue
from libcpp.vector cimport vector

from shoal.kernels.shoaling.block cimport RANGE, TREE, Block, lay_columns, measure_entries
from shoal.kernels.shoaling.packed cimport BY_BITS, BY_RANGE, BY_TREE, Layout, lay_pieces, union_price
from shoal.kernels.shoaling.requirement cimport Summary, count_in, joined, passes
from shoal.kernels.shoaling.groups cimport (
    MOST, School, cost_of, open_group, price_exchanged, price_with, put_in, ripe_with, ripe_without, take_out,
)


cdef extern from *:
    """
    namespace shoaling {
    // A candidate for a merge: its key, its slot, and which cluster of that slot was meant.
    struct Candidate { double key; int32_t slot; int32_t version; };
    // The unripe clusters of a block. A cluster lives in the slot of one of its entries; every new one of a slot has
    // a new version, so that a candidate whose cluster is gone is known for dead.
    struct Clusters {
        Layout layout;
        std::vector<uint64_t> words;
        std::vector<Summary> summary;
        std::vector<int64_t> tally;             // slots x what models count
        std::vector<int32_t> price, version;
        std::vector<int32_t> alive, spot;       // slots in use; where a slot stands there, -1 where it does not
        std::vector<std::vector<int32_t>> members;
        std::vector<std::vector<Candidate>> near;   // nearest last
        std::vector<uint8_t> all_near;          // near holds every cluster that there was
        std::vector<int32_t> columns;           // attribute by attribute: code or place of each entry
        std::vector<int32_t> distance;
    };
    }
    """
    cppclass Candidate "shoaling::Candidate":
        double key
        int32_t slot
        int32_t version

    cppclass Clusters "shoaling::Clusters":
        Layout layout
        vector[uint64_t] words
        vector[Summary] summary
        vector[int64_t] tally
        vector[int32_t] price
        vector[int32_t] version
        vector[int32_t] alive
        vector[int32_t] spot
        vector[vector[int32_t]] members
        vector[vector[Candidate]] near
        vector[uint8_t] all_near
        vector[int32_t] columns
        vector[int32_t] distance


# (-key, (-slot, version)): the top of the queue is the least key, then the lowest slot.
ctypedef pair[int32_t, int32_t] Owner
ctypedef pair[double, Owner] Offer

# Candidates kept of a scan.
cdef enum:
    KEPT = 6
    NEVER = 1 << 30  # a price that there is not


cdef inline void grow_groups(const Block& block, School& school) noexcept nogil:
    """Put every entry of the block in a group. Two clusters are the nearer, the less a row of both loses by the merge."""
    cdef Clusters clusters
    cdef priority_queue[Offer] queue
    cdef Offer offer
    cdef Candidate best
    cdef int32_t e, slot
    cdef vector[int32_t] back
    start_clusters(block, clusters)
    for e in range(block.n):
        if is_ripe(block, clusters, e):
            put_in(block, school, open_group(block, school), e)
        else:
            enter(clusters, e)
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
        if not is_ripe(block, clusters, slot):
            scan(block, clusters, slot)
            offer_nearest(clusters, slot, queue)
            continue
        back.clear()
        close(block, clusters, slot, school, back)
        for e in range(<int32_t>back.size()):
            scan(block, clusters, back[e])
            enter(clusters, back[e])
            offer_nearest(clusters, back[e], queue)
    while not clusters.alive.empty():
        slot = clusters.alive.back()
        leave(clusters, slot)
        place_singly(block, school, clusters.members[slot])


cdef inline void start_clusters(const Block& block, Clusters& clusters) noexcept nogil:
    """Make each entry a cluster of its own, not yet entered."""
    cdef int32_t e
    lay_pieces(block, clusters.layout)
    clusters.words.assign(<size_t>clusters.layout.width * block.n, 0)
    lay_columns(block, clusters.columns)
    clusters.distance.resize(block.n)
    clusters.price.assign(block.n, 0)
    clusters.version.assign(block.n, -1)
    clusters.spot.assign(block.n, -1)
    clusters.all_near.assign(block.n, 0)
    clusters.near.resize(block.n)
    clusters.members.resize(block.n)
    clusters.summary.resize(block.n)
    clusters.tally.assign(<size_t>block.n * block.need.n_tallies, 0)
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
        if block.kinds[a] == RANGE or block.kinds[a] == TREE:
            place = <uint64_t>(block.place[block.base[a] + c] if block.kinds[a] == RANGE else c)
            words[w] = place << 32 | place
        else:
            c += clusters.layout.first_bit[a]
            words[w + (c >> 6)] |= <uint64_t>1 << (c & 63)
    clusters.price[e] = 0
    clusters.summary[e] = block.entries[e]
    for w in range(block.need.n_tallies):
        clusters.tally[<Py_ssize_t>e * block.need.n_tallies + w] = 0
    count_in(block.need, tally_of(block, clusters, e), block.classes[e], block.entries[e].rows)
    clusters.version[e] += 1
    clusters.members[e].assign(1, e)
    clusters.near[e].clear()


cdef inline int64_t* tally_of(const Block& block, Clusters& clusters, int32_t slot) noexcept nogil:
    return clusters.tally.data() + <Py_ssize_t>slot * block.need.n_tallies


cdef inline bint is_ripe(const Block& block, Clusters& clusters, int32_t slot) noexcept nogil:
    return passes(block.need, clusters.summary[slot], tally_of(block, clusters, slot))


cdef inline void enter(Clusters& clusters, int32_t slot) noexcept nogil:
    clusters.spot[slot] = <int32_t>clusters.alive.size()
    clusters.alive.push_back(slot)


cdef inline void leave(Clusters& clusters, int32_t slot) noexcept nogil:
    cdef int32_t last = clusters.alive.back()
    clusters.alive[clusters.spot[slot]] = last
    clusters.spot[last] = clusters.spot[slot]
    clusters.alive.pop_back()
    clusters.spot[slot] = -1


cdef inline void keep_near(vector[Candidate]& near, double key, int32_t slot, int32_t version) noexcept nogil:
    """Insert a candidate; the list falls by (key, slot) and is as long as KEPT at most."""
    cdef size_t i
    cdef Candidate candidate
    candidate.key = key
    candidate.slot = slot
    candidate.version = version
    if near.size() < KEPT:
        near.insert(near.begin(), candidate)
    i = 0
    while i + 1 < near.size() and (near[i + 1].key > key or (near[i + 1].key == key and near[i + 1].slot > slot)):
        near[i] = near[i + 1]
        i += 1
    near[i] = candidate


cdef inline void first_scans(const Block& block, Clusters& clusters) noexcept nogil:
    """Find the nearest of every single entry, all of which are alive: plain loops that compilers turn into vector code."""
    cdef int32_t i, slot
    for i in range(<int32_t>clusters.alive.size()):
        slot = clusters.alive[i]
        measure_entries(block, clusters.columns, slot, clusters.distance)
        pick_singles(clusters, slot)


cdef inline void pick_singles(Clusters& clusters, int32_t e) noexcept nogil:
    cdef int32_t i, j
    cdef double worst = NEVER
    cdef vector[Candidate]* near = &clusters.near[e]
    for i in range(<int32_t>clusters.alive.size()):
        j = clusters.alive[i]
        if clusters.distance[j] < worst and j != e:
            keep_near(near[0], clusters.distance[j], j, clusters.version[j])
            if near.size() == KEPT:
                worst = near.front().key
    clusters.all_near[e] = near.size() < KEPT


cdef inline void scan(const Block& block, Clusters& clusters, int32_t slot) noexcept nogil:
    """Find the nearest of a cluster among those alive."""
    cdef int32_t i, j, price, limit, width = clusters.layout.width, n = <int32_t>clusters.alive.size()
    cdef double mean, worst = NEVER, key
    cdef const int32_t* prices = clusters.price.data()
    cdef const Summary* summary = clusters.summary.data()
    cdef const uint64_t* words = clusters.words.data()
    cdef const uint64_t* own = words + <Py_ssize_t>slot * width
    cdef int64_t rows = summary[slot].rows, cost = rows * prices[slot]
    cdef vector[Candidate]* near = &clusters.near[slot]
    near.clear()
    for i in range(n):
        j = clusters.alive[i]
        # The mean price of both, which the key leaves out, is no more than the greater one.
        limit = <int32_t>worst + max(prices[slot], prices[j])
        price = union_price(block, clusters.layout, own, words + <Py_ssize_t>j * width, limit)
        if price > limit or j == slot:
            continue
        mean = <double>(cost + summary[j].rows * prices[j]) / <double>(rows + summary[j].rows)
        key = price - mean
        if key < worst or (key == worst and j < near.front().slot):
            keep_near(near[0], key, j, clusters.version[j])
            if near.size() == KEPT:
                worst = near.front().key
    clusters.all_near[slot] = near.size() < KEPT


cdef inline void drop_dead(Clusters& clusters, int32_t slot) noexcept nogil:
    """Forget candidates from the nearest on, up to the first that still lives."""
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
    """Join two clusters in the slot of the first, as a new cluster."""
    cdef int32_t i, w
    cdef uint64_t low, high
    cdef uint64_t* x = clusters.words.data() + <Py_ssize_t>slot * clusters.layout.width
    cdef const uint64_t* y = clusters.words.data() + <Py_ssize_t>other * clusters.layout.width
    clusters.price[slot] = union_price(block, clusters.layout, x, y, 2147483647)
    for i in range(<int32_t>clusters.layout.pieces.size()):
        w = clusters.layout.pieces[i].word
        if clusters.layout.pieces[i].kind == BY_RANGE or clusters.layout.pieces[i].kind == BY_TREE:
            low = min(x[w] >> 32, y[w] >> 32)
            high = max(<uint64_t><uint32_t>x[w], <uint64_t><uint32_t>y[w])
            x[w] = low << 32 | high
            continue
        x[w] |= y[w]
        if clusters.layout.pieces[i].kind == BY_BITS:
            for w in range(w + 1, clusters.layout.pieces[i].end):
                x[w] |= y[w]
    clusters.summary[slot] = joined(clusters.summary[slot], clusters.summary[other])
    for i in range(block.need.n_tallies):
        tally_of(block, clusters, slot)[i] += tally_of(block, clusters, other)[i]
    clusters.members[slot].insert(
        clusters.members[slot].end(), clusters.members[other].begin(), clusters.members[other].end()
    )
    clusters.version[slot] += 1
    leave(clusters, other)
    return slot


cdef inline void close(
    const Block& block, Clusters& clusters, int32_t slot, School& school,
    vector[int32_t]& back,          # OUT entries given back
) noexcept nogil:
    """Make a group of a ripe cluster, without the entries whose departure lowers its price and that it can spare."""
    cdef int32_t i, e, best, price, least, g = open_group(block, school)
    leave(clusters, slot)
    for i in range(<int32_t>clusters.members[slot].size()):
        put_in(block, school, g, clusters.members[slot][i])
    while True:
        best = -1
        least = school.price[g] + 1
        for i in range(<int32_t>school.members[g].size()):
            e = school.members[g][i]
            if not ripe_without(block, school, g, e):
                continue
            price = price_exchanged(block, school, g, e, -1, MOST)
            if price < least or (price == least and best >= 0 and e < best):
                best = e
                least = price
        if best < 0:
            break
        take_out(block, school, best)
        back.push_back(best)
    for i in range(<int32_t>back.size()):
        make_single(block, clusters, back[i])


cdef inline void place_singly(const Block& block, School& school, const vector[int32_t]& entries) noexcept nogil:
    """Put entries, one after the other, in the group where they add least; without any group, all in a new one.

    A group that stays ripe comes before one that does not.
    """
    cdef int32_t i, e, g, best
    cdef int64_t added, least
    cdef bint fits, best_fits
    cdef int32_t n_groups = <int32_t>school.price.size()
    if n_groups == 0:
        g = open_group(block, school)
        for i in range(<int32_t>entries.size()):
            put_in(block, school, g, entries[i])
        return
    for i in range(<int32_t>entries.size()):
        e = entries[i]
        best = -1
        least = 0
        best_fits = False
        for g in range(n_groups):
            added = joined(school.summary[g], block.entries[e]).rows * price_with(block, school, g, e) - cost_of(school, g)
            if best >= 0 and best_fits and added >= least:
                continue
            fits = ripe_with(block, school, g, e)
            if best < 0 or fits > best_fits or (fits == best_fits and added < least):
                best = g
                least = added
                best_fits = fits
        put_in(block, school, best, e)
