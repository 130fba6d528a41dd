/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the actions of traces that SimGrid 3.2x and 3.3x write: the words after
 * the action's name give counts, and the type of the items. */
#include "base/status.h"
#include "pattern/ti.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes of SimGrid's basic types, by their numbers from 0 on. Numbers above
 * 40 differ between versions; they count as 1 byte. */
static const uint8_t type_sizes[] = {
    8, 4,  1,  2, 8,
    4, 1,  8,  1, 1, /* double int char short long float ... */
    2, 4,  8,  8, 16,
    4, 1,  1,  2, 4, /* unsigned short ... int32_t */
    8, 1,  2,  4, 8,
    8, 16, 32, 8, 8, /* int64_t ... MPI_OFFSET */
    8, 16, 16, 8, 8,
    8, 16, 16, 4, 4, /* pairs, Fortran reals */
    8,
};

static nw_status read_count(struct nw_ti *ti, uint64_t *out)
{
    return nw_scan_bytes(&ti->scan, out)
               ? NW_OK
               : nw_scan_expected(&ti->scan, "a number of items");
}

static nw_status ti_action_read_rank(struct nw_ti *ti, int32_t *out)
{
    if (!nw_scan_i32(&ti->scan, out))
        return nw_scan_expected(&ti->scan, "a rank");
    if (*out >= ti->member.ranks)
        return nw_scan_fail(&ti->scan, "rank %d is outside 0 to %d", *out,
                            ti->member.ranks - 1);
    return NW_OK;
}

/* Reads the type of the items, and sets *size to the bytes of one item. If the
 * line has no type, that is the trace's default: 8 or 1. An unknown type counts
 * as 1 byte, and ti->unsized counts the action. */
static nw_status read_type(struct nw_ti *ti, uint64_t *size)
{
    double number;
    size_t count = sizeof type_sizes / sizeof *type_sizes;

    if (nw_scan_is_done(&ti->scan)) {
        *size = ti->is_double[ti->member.me] ? 8 : 1;
        return NW_OK;
    }
    if (!nw_scan_double(&ti->scan, &number) || number < -1)
        return nw_scan_expected(&ti->scan, "the number of a type");
    if (number >= 0 && number < (double)count) {
        *size = type_sizes[(size_t)number];
        return NW_OK;
    }
    *size = 1;
    ti->unsized++;
    return NW_OK;
}

static nw_status to_bytes(struct nw_ti *ti, uint64_t items, uint64_t size,
                          uint64_t *out)
{
    return __builtin_mul_overflow(items, size, out)
               ? nw_scan_fail(&ti->scan, "more than 2^64 - 1 bytes")
               : NW_OK;
}

/* Reads the type of *count items, and replaces *count by their bytes. */
static nw_status read_type_of(struct nw_ti *ti, uint64_t *count)
{
    uint64_t size;
    nw_status status = read_type(ti, &size);

    return status ? status : to_bytes(ti, *count, size, count);
}

/* Reads "count work [type]". */
static nw_status read_reduction(struct nw_ti *ti, uint64_t *bytes)
{
    uint64_t work;
    nw_status status = read_count(ti, bytes);

    if (!status)
        status = read_count(ti, &work);
    return status ? status : read_type_of(ti, bytes);
}

/* Reads "dst tag count [type]". */
static nw_status ti_action_take_send(struct nw_ti *ti)
{
    uint64_t count;
    int32_t dst;
    double tag;
    nw_status status = ti_action_read_rank(ti, &dst);

    if (!status && !nw_scan_double(&ti->scan, &tag))
        status = nw_scan_expected(&ti->scan, "a tag");
    if (!status)
        status = read_count(ti, &count);
    if (!status)
        status = read_type_of(ti, &count);
    if (status)
        return status;
    return nw_pattern_builder_add(ti->member.builder, ti->member.me, dst,
                                  NW_KIND_HH, count, 1);
}

/* Reads "sendcount dst recvcount src [sendtype recvtype]". */
static nw_status take_sendrecv(struct nw_ti *ti)
{
    uint64_t count, received;
    int32_t dst, src;
    nw_status status = read_count(ti, &count);

    if (!status)
        status = ti_action_read_rank(ti, &dst);
    if (!status)
        status = read_count(ti, &received);
    if (!status)
        status = ti_action_read_rank(ti, &src);
    if (!status)
        status = read_type_of(ti, &count);
    if (status)
        return status;
    return nw_pattern_builder_add(ti->member.builder, ti->member.me, dst,
                                  NW_KIND_HH, count, 1);
}

/* Reads the root; the root is rank 0 if the line ends before it. */
static nw_status read_root(struct nw_ti *ti, int32_t *root)
{
    *root = 0;
    return nw_scan_is_done(&ti->scan) ? NW_OK : ti_action_read_rank(ti, root);
}

/* Reads "count [root [type]]" or, if `up` is set (reduce), "count work [root
 * [type]]". */
static nw_status take_tree(struct nw_ti *ti, bool up)
{
    uint64_t count, work;
    int32_t root;
    nw_status status = read_count(ti, &count);

    if (!status && up)
        status = read_count(ti, &work);
    if (!status)
        status = read_root(ti, &root);
    if (!status)
        status = read_type_of(ti, &count);
    if (status)
        return status;
    return up ? nw_member_collect(&ti->member, root, count)
              : nw_member_spread(&ti->member, root, count);
}

static nw_status take_bcast(struct nw_ti *ti)
{
    return take_tree(ti, false);
}

static nw_status take_reduce(struct nw_ti *ti)
{
    return take_tree(ti, true);
}

/* Reads "count work [type]". The messages are those of a reduction up a
 * binomial tree and a broadcast down the same tree. */
static nw_status take_allreduce(struct nw_ti *ti)
{
    uint64_t count;
    nw_status status = read_reduction(ti, &count);

    if (!status)
        status = nw_member_collect(&ti->member, 0, count);
    return status ? status : nw_member_spread(&ti->member, 0, count);
}

/* Reads "sendcount recvcount [sendtype recvtype]", or with a root before the
 * types if `root` is not NULL. */
static nw_status read_exchange(struct nw_ti *ti, int32_t *root, uint64_t *bytes)
{
    uint64_t received;
    nw_status status = read_count(ti, bytes);

    if (!status)
        status = read_count(ti, &received);
    if (!status && root)
        status = read_root(ti, root);
    return status ? status : read_type_of(ti, bytes);
}

static nw_status take_alltoall(struct nw_ti *ti)
{
    uint64_t bytes;
    nw_status status = read_exchange(ti, NULL, &bytes);

    return status ? status : nw_member_to_all(&ti->member, bytes);
}

/* Adds the sends of a ring all-gather: the rank sends all blocks except that of
 * the next rank to the next rank. `bytes` is the size of these blocks together.
 */
static nw_status send_round(struct nw_ti *ti, uint64_t bytes)
{
    const struct nw_member *member = &ti->member;

    return nw_member_send(member, (member->me + 1) % member->ranks, bytes);
}

static nw_status take_allgather(struct nw_ti *ti)
{
    uint64_t bytes;
    nw_status status = read_exchange(ti, NULL, &bytes);

    if (!status)
        status = to_bytes(ti, bytes, (uint64_t)ti->member.ranks - 1, &bytes);
    return status ? status : send_round(ti, bytes);
}

static nw_status take_gather(struct nw_ti *ti)
{
    uint64_t bytes;
    int32_t root;
    nw_status status = read_exchange(ti, &root, &bytes);

    return status ? status : nw_member_send(&ti->member, root, bytes);
}

static nw_status take_scatter(struct nw_ti *ti)
{
    uint64_t bytes;
    int32_t root;
    nw_status status = read_exchange(ti, &root, &bytes);

    if (status || root != ti->member.me)
        return status;
    return nw_member_to_all(&ti->member, bytes);
}

static nw_status ti_action_read_counts(struct nw_ti *ti)
{
    nw_status status = NW_OK;

    for (int32_t r = 0; !status && r < ti->member.ranks; r++)
        status = read_count(ti, &ti->counts[r]);
    return status;
}

/* Adds one message to each other rank that gets items; ti->counts[r] is the
 * number of items to rank r, and an item has `size` bytes. */
static nw_status send_counts(struct nw_ti *ti, uint64_t size)
{
    nw_status status = NW_OK;

    for (int32_t r = 0; !status && r < ti->member.ranks; r++) {
        uint64_t bytes;

        status = to_bytes(ti, ti->counts[r], size, &bytes);
        if (!status && bytes)
            status = nw_member_send(&ti->member, r, bytes);
    }
    return status;
}

/* Reads "buffer counts... buffer counts... [sendtype recvtype]". */
static nw_status take_alltoallv(struct nw_ti *ti)
{
    uint64_t ignored, size;
    nw_status status = read_count(ti, &ignored);

    if (!status)
        status = ti_action_read_counts(ti);
    for (int32_t i = 0; !status && i <= ti->member.ranks; i++)
        status = read_count(ti, &ignored);
    if (!status)
        status = read_type(ti, &size);
    return status ? status : send_counts(ti, size);
}

/* Reads "sendcount recvcounts... [sendtype recvtype]". */
static nw_status take_allgatherv(struct nw_ti *ti)
{
    uint64_t own, size, sum = 0;
    int32_t next = (ti->member.me + 1) % ti->member.ranks;
    nw_status status = read_count(ti, &own);

    if (!status)
        status = ti_action_read_counts(ti);
    if (!status)
        status = read_type(ti, &size);
    if (status)
        return status;
    for (int32_t r = 0; r < ti->member.ranks; r++)
        if (r != next && __builtin_add_overflow(sum, ti->counts[r], &sum))
            return nw_scan_fail(&ti->scan, "more than 2^64 - 1 items");
    status = to_bytes(ti, sum, size, &sum);
    return status ? status : send_round(ti, sum);
}

/* Reads "sendcount recvcounts... [root [sendtype recvtype]]". */
static nw_status take_gatherv(struct nw_ti *ti)
{
    uint64_t bytes;
    int32_t root;
    nw_status status = read_count(ti, &bytes);

    if (!status)
        status = ti_action_read_counts(ti);
    if (!status)
        status = read_root(ti, &root);
    if (!status)
        status = read_type_of(ti, &bytes);
    return status ? status : nw_member_send(&ti->member, root, bytes);
}

/* Reads "sendcounts... recvcount [root [sendtype recvtype]]". */
static nw_status take_scatterv(struct nw_ti *ti)
{
    uint64_t received, size;
    int32_t root;
    nw_status status = ti_action_read_counts(ti);

    if (!status)
        status = read_count(ti, &received);
    if (!status)
        status = read_root(ti, &root);
    if (!status)
        status = read_type(ti, &size);
    if (status || root != ti->member.me)
        return status;
    return send_counts(ti, size);
}

/* Reads "recvcounts... work [type]"; each rank gets its part of the result. */
static nw_status take_reducescatter(struct nw_ti *ti)
{
    uint64_t work, size;
    nw_status status = ti_action_read_counts(ti);

    if (!status)
        status = read_count(ti, &work);
    if (!status)
        status = read_type(ti, &size);
    return status ? status : send_counts(ti, size);
}

/* Reads "count work [type]"; the sends go from each rank to the next one. */
static nw_status take_scan(struct nw_ti *ti)
{
    uint64_t count;
    nw_status status = read_reduction(ti, &count);

    if (status || ti->member.me + 1 == ti->member.ranks)
        return status;
    return nw_member_send(&ti->member, ti->member.me + 1, count);
}

/* Reads "init" or "init 1". After "init 1", the rank's counts without a type
 * are doubles, otherwise bytes. */
static nw_status take_init(struct nw_ti *ti)
{
    ti->is_double[ti->member.me] = !nw_scan_is_done(&ti->scan);
    return NW_OK;
}

static nw_status take_nothing(struct nw_ti *ti)
{
    (void)ti;
    return NW_OK;
}

static const struct {
    const char *name;
    nw_status (*take)(struct nw_ti *ti);
    bool collective;
} actions[] = {
    {"compute", take_nothing, false},
    {"init", take_init, false},
    {"send", ti_action_take_send, false},
    {"isend", ti_action_take_send, false},
    {"ssend", ti_action_take_send, false},
    {"issend", ti_action_take_send, false},
    {"bsend", ti_action_take_send, false},
    {"ibsend", ti_action_take_send, false},
    {"rsend", ti_action_take_send, false},
    {"irsend", ti_action_take_send, false},
    {"sendrecv", take_sendrecv, false},
    {"recv", take_nothing, false},
    {"irecv", take_nothing, false},
    {"wait", take_nothing, false},
    {"waitall", take_nothing, false},
    {"waitany", take_nothing, false},
    {"test", take_nothing, false},
    {"testall", take_nothing, false},
    {"testany", take_nothing, false},
    {"probe", take_nothing, false},
    {"iprobe", take_nothing, false},
    {"barrier", take_nothing, false},
    {"bcast", take_bcast, true},
    {"reduce", take_reduce, true},
    {"allreduce", take_allreduce, true},
    {"alltoall", take_alltoall, true},
    {"alltoallv", take_alltoallv, true},
    {"allgather", take_allgather, true},
    {"allgatherv", take_allgatherv, true},
    {"gather", take_gather, true},
    {"gatherv", take_gatherv, true},
    {"scatter", take_scatter, true},
    {"scatterv", take_scatterv, true},
    {"reducescatter", take_reducescatter, true},
    {"scan", take_scan, true},
    {"exscan", take_scan, true},
    {"sleep", take_nothing, false},
    {"location", take_nothing, false},
    {"comm_size", take_nothing, false},
    {"comm_split", take_nothing, false},
    {"comm_dup", take_nothing, false},
    {"finalize", take_nothing, false},
};

/* Checks that the line has at most one more word, the receive type, which is
 * not needed. */
static nw_status check_end(struct nw_ti *ti)
{
    const char *word;

    nw_scan_word(&ti->scan, &word);
    return nw_scan_is_done(&ti->scan)
               ? NW_OK
               : nw_scan_expected(&ti->scan, "the end of the line");
}

nw_status nw_ti_action(struct nw_ti *ti)
{
    struct nw_scan name;
    const char *word;
    size_t length;
    nw_status status = ti_action_read_rank(ti, &ti->member.me);

    if (status)
        return status;
    name = ti->scan;
    length = nw_scan_word(&ti->scan, &word);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (length == strlen(actions[i].name) &&
            !strncasecmp(word, actions[i].name, length)) {
            ti->collectives += actions[i].collective;
            status = actions[i].take(ti);
            if (status || actions[i].take == take_nothing)
                return status;
            return check_end(ti);
        }
    return nw_scan_expected(&name, "an action that is known");
}
