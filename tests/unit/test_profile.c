/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of profiles without MPI. Each end of a message records a part of the
 * data, and these parts are merged. The models of collective calls are compared
 * with properties that any algorithm has. */
#include "runtime/profile/merge_records.h"
#include "runtime/profile/choice.h"
#include "runtime/profile/collective_messages.h"
#include "runtime/profile/collective_trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct nw_part_record record(int32_t peer, int class, int16_t tag,
                                    uint64_t bytes)
{
    struct nw_part_record r = {.peer = peer,
                               .tag = tag,
                               .class = (uint8_t) class,
                               .bytes = bytes,
                               .messages = 1};

    r.sizes[nw_part_size_class(bytes)] = 1;
    return r;
}

static void add(struct nw_merge *merge, int rank, struct nw_part_record r)
{
    assert_int_equal(nw_merge_add(merge, rank, &r), NW_OK);
}

static uint64_t total(const nw_pattern *pattern, enum nw_kind kind)
{
    return nw_pattern_total(pattern, kind).bytes;
}

/* The sender has no GPU and keeps no tag; the receiver keeps both. */
static void test_sender_without_gpu(void **state)
{
    struct nw_merge *merge;
    nw_pattern *pattern;

    (void)state;
    assert_int_equal(nw_merge_new(2, true, &merge), NW_OK);
    add(merge, 0, record(1, NW_PART_SENT_HOST, NW_PART_NO_TAG, 100));
    add(merge, 0, record(1, NW_PART_SENT_HOST, NW_PART_NO_TAG, 5000));
    add(merge, 1, record(0, NW_PART_RECEIVED_GPU, 7, 5000));
    assert_int_equal(nw_merge_build(merge, &pattern), NW_OK);
    assert_int_equal(total(pattern, NW_KIND_HH), 100);
    assert_int_equal(total(pattern, NW_KIND_HG), 5000);
    assert_int_equal(total(pattern, NW_KIND_GG), 0);
    nw_pattern_free(pattern);
    nw_merge_free(merge);
}

/* The sender keeps tags only after it has begun to use its GPU. MPI matches
 * messages of equal tags only (MPI 4.0, 3.2.4). So the message with tag 7 is
 * the first one, which was sent without a record of its tag, and not the one
 * with tag 5, which the receiver got in host memory. */
static void test_sender_with_late_gpu(void **state)
{
    struct nw_merge *merge;
    nw_pattern *pattern;

    (void)state;
    assert_int_equal(nw_merge_new(2, true, &merge), NW_OK);
    add(merge, 0, record(1, NW_PART_SENT_HOST, NW_PART_NO_TAG, 120));
    add(merge, 0, record(1, NW_PART_SENT_HOST, 5, 100));
    add(merge, 1, record(0, NW_PART_RECEIVED_GPU, 7, 120));
    assert_int_equal(nw_merge_build(merge, &pattern), NW_OK);
    assert_int_equal(total(pattern, NW_KIND_HH), 100);
    assert_int_equal(total(pattern, NW_KIND_HG), 120);
    nw_pattern_free(pattern);
    nw_merge_free(merge);
}

/* Both ends record both sides; each sort of message can be matched in only one
 * way. */
static void test_both_with_gpu(void **state)
{
    struct nw_merge *merge;
    nw_pattern *pattern;

    (void)state;
    assert_int_equal(nw_merge_new(2, true, &merge), NW_OK);
    add(merge, 0, record(1, NW_PART_SENT_HOST, 1, 10));
    add(merge, 0, record(1, NW_PART_SENT_HOST, 2, 20));
    add(merge, 0, record(1, NW_PART_SENT_GPU, 3, 40));
    add(merge, 0, record(1, NW_PART_SENT_GPU, 4, 80));
    add(merge, 1, record(0, NW_PART_RECEIVED_GPU, 2, 20));
    add(merge, 1, record(0, NW_PART_RECEIVED_GPU, 4, 80));
    assert_int_equal(nw_merge_build(merge, &pattern), NW_OK);
    assert_int_equal(total(pattern, NW_KIND_HH), 10);
    assert_int_equal(total(pattern, NW_KIND_HG), 20);
    assert_int_equal(total(pattern, NW_KIND_GH), 40);
    assert_int_equal(total(pattern, NW_KIND_GG), 80);
    nw_pattern_free(pattern);
    nw_merge_free(merge);
}

/* The bytes of a get flow from the peer to the caller. */
static void test_inward(void **state)
{
    struct nw_part_record r = record(1, NW_PART_HH, NW_PART_NO_TAG, 64);
    struct nw_merge *merge;
    nw_pattern *pattern;

    (void)state;
    r.inward = 1;
    assert_int_equal(nw_merge_new(2, false, &merge), NW_OK);
    add(merge, 0, r);
    r.peer = 2;
    assert_int_equal(nw_merge_add(merge, 0, &r), NW_EINVAL);
    assert_int_equal(nw_merge_build(merge, &pattern), NW_OK);
    assert_int_equal(pattern->row[1] - pattern->row[0], 0);
    assert_int_equal(pattern->row[2] - pattern->row[1], 1);
    assert_int_equal(pattern->dst[0], 0);
    nw_pattern_free(pattern);
    nw_merge_free(merge);
}

static struct nw_part_record timed(const char *name, uint64_t ns,
                                   uint64_t calls)
{
    struct nw_part_record r = {.peer = 999,
                               .tag = NW_PART_NO_TAG,
                               .class = NW_PART_TIME,
                               .bytes = ns,
                               .messages = calls};

    nw_part_set_name(&r, name);
    return r;
}

static void check_time(const nw_pattern *pattern, size_t i,
                       struct nw_pattern_time wanted)
{
    const struct nw_pattern_time *time = &pattern->time[i];

    assert_string_equal(time->call, wanted.call);
    assert_int_equal(time->calls, wanted.calls);
    assert_int_equal(time->min_ns, wanted.min_ns);
    assert_int_equal(time->mean_ns, wanted.mean_ns);
    assert_int_equal(time->max_ns, wanted.max_ns);
}

/* Two threads of rank 0 send, rank 1 only receives, rank 2 never calls. */
static void test_times(void **state)
{
    struct nw_part_record bad = timed("MPI\x1b", 1, 1);
    struct nw_merge *merge;
    nw_pattern *pattern;

    (void)state;
    assert_int_equal(nw_merge_new(3, false, &merge), NW_OK);
    add(merge, 0, timed("MPI_Send", 10, 2));
    add(merge, 0, timed("MPI_Send", 5, 1));
    add(merge, 0, timed("MPI_Recv", 6, 1));
    add(merge, 0, timed("run", 100, 1));
    add(merge, 1, timed("run", 130, 1));
    add(merge, 1, timed("MPI_Recv", 60, 3));
    add(merge, 2, timed("run", 100, 1));
    assert_int_equal(nw_merge_add(merge, 0, &bad), NW_EINVAL);
    assert_int_equal(nw_merge_build(merge, &pattern), NW_OK);
    assert_int_equal(pattern->edge_count, 0);
    assert_int_equal(pattern->time_count, 4);
    check_time(pattern, 0, (struct nw_pattern_time){"run", 3, 100, 110, 130});
    check_time(pattern, 1, (struct nw_pattern_time){"MPI", 7, 0, 27, 60});
    check_time(pattern, 2, (struct nw_pattern_time){"MPI_Recv", 4, 0, 22, 60});
    check_time(pattern, 3, (struct nw_pattern_time){"MPI_Send", 3, 0, 5, 15});
    nw_pattern_free(pattern);
    nw_merge_free(merge);
}

static struct nw_part_record moved(int class, enum nw_origin origin,
                                   uint64_t bytes)
{
    struct nw_part_record r = record(1, class, NW_PART_NO_TAG, bytes);

    r.origin = (uint8_t)(origin + 1);
    return r;
}

/* A message that both ends have counted is one message. */
static void test_traffic(void **state)
{
    struct nw_part_record back =
        moved(NW_PART_RECEIVED_GPU, NW_ORIGIN_POINT_TO_POINT, 40);
    struct nw_merge *merge;
    nw_pattern *pattern;

    (void)state;
    back.peer = 0;
    assert_int_equal(nw_merge_new(2, true, &merge), NW_OK);
    add(merge, 0, moved(NW_PART_SENT_HOST, NW_ORIGIN_POINT_TO_POINT, 40));
    add(merge, 0, moved(NW_PART_HH, NW_ORIGIN_ONE_SIDED, 200));
    add(merge, 0, moved(NW_PART_HH, NW_ORIGIN_COLLECTIVE, 3000));
    add(merge, 0, moved(NW_PART_HH, NW_ORIGIN_COLLECTIVE, 5000));
    add(merge, 1, back);
    assert_int_equal(nw_merge_build(merge, &pattern), NW_OK);
    assert_int_equal(pattern->traffic[NW_ORIGIN_POINT_TO_POINT].bytes, 40);
    assert_int_equal(pattern->traffic[NW_ORIGIN_POINT_TO_POINT].messages, 1);
    assert_int_equal(pattern->traffic[NW_ORIGIN_ONE_SIDED].bytes, 200);
    assert_int_equal(pattern->traffic[NW_ORIGIN_COLLECTIVE].bytes, 8000);
    assert_int_equal(pattern->traffic[NW_ORIGIN_COLLECTIVE].messages, 2);
    assert_int_equal(pattern->traffic[NW_ORIGIN_NCCL].messages, 0);
    nw_pattern_free(pattern);
    nw_merge_free(merge);
}

#define RANKS 37

/* The bytes of a whole call by source and destination. */
struct sums {
    int self;
    uint64_t bytes[RANKS][RANKS];
};

static void note(void *context, int to, uint64_t bytes)
{
    struct sums *sums = context;

    assert_in_range(to, 0, RANKS - 1);
    assert_int_not_equal(to, sums->self);
    sums->bytes[sums->self][to] += bytes;
}

static uint64_t into(const struct sums *sums, int rank)
{
    uint64_t sum = 0;

    for (int src = 0; src < RANKS; src++)
        sum += sums->bytes[src][rank];
    return sum;
}

static uint64_t block(const void *context, int rank)
{
    (void)context;
    return (uint64_t)rank + 1;
}

static const struct nw_blocks blocks = {block, NULL};

/* In a tree, each rank but the root gets the vector once; the reduction uses
 * the same tree in the other direction, except for the binomial tree. */
static void test_trees(void **state)
{
    static const enum nw_collective_algorithm trees[] = {
        NW_ALGORITHM_LINEAR, NW_ALGORITHM_CHAIN, NW_ALGORITHM_PIPELINE,
        NW_ALGORITHM_BINARY, NW_ALGORITHM_BINOMIAL};

    (void)state;
    for (int size = 1; size <= RANKS; size++)
        for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
            struct sums down = {0}, up = {0};
            struct nw_model model = {0, size, note, NULL};
            int root = size / 3;

            for (model.rank = 0; model.rank < size; model.rank++) {
                down.self = up.self = model.rank;
                model.context = &down;
                nw_model_bcast(&model, trees[t], root, 100);
                model.context = &up;
                nw_model_reduce(&model, trees[t], root, 100);
            }
            for (int rank = 0; rank < size; rank++) {
                assert_int_equal(into(&down, rank), rank == root ? 0 : 100);
                for (int to = 0; to < size && t < 4; to++)
                    assert_int_equal(down.bytes[rank][to], up.bytes[to][rank]);
            }
        }
}

/* The children of a rank are the ranks whose parent it is. */
static void test_children(void **state)
{
    (void)state;
    for (int tree = NW_TREE_FLAT; tree <= NW_TREE_LOW; tree++)
        for (int size = 1; size <= RANKS; size++) {
            int seen = 0;

            for (int rank = 0; rank < size; rank++)
                for (int child = 0;
                     (child = nw_tree_child(tree, rank, size, child)); seen++)
                    assert_int_equal(nw_tree_parent(tree, child, size), rank);
            assert_int_equal(seen, size - 1);
        }
}

/* Every rank gets every block but its own, with any algorithm. */
static void test_allgather(void **state)
{
    static const enum nw_collective_algorithm ways[] = {
        NW_ALGORITHM_RING, NW_ALGORITHM_BRUCK, NW_ALGORITHM_RECURSIVE_DOUBLING};

    (void)state;
    for (int size = 1; size <= RANKS; size++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            struct sums sums = {0};
            struct nw_model model = {0, size, note, &sums};
            uint64_t all = (uint64_t)size * (uint64_t)(size + 1) / 2;

            for (model.rank = 0; model.rank < size; model.rank++) {
                sums.self = model.rank;
                nw_model_allgather(&model, ways[w], &blocks);
            }
            for (int rank = 0; rank < size; rank++)
                assert_int_equal(into(&sums, rank), all - (uint64_t)rank - 1);
        }
}

static void test_choice(void **state)
{
    const char *bad;

    (void)state;
    nw_choice_set("allreduce:ring,bcast:nonsense,scan:linear", &bad);
    assert_string_equal(bad, "bcast:nonsense,scan:linear");
    assert_int_equal(nw_choice(NW_COLLECTIVE_ALLREDUCE, 8, 1),
                     NW_ALGORITHM_RING);
    assert_int_equal(nw_choice(NW_COLLECTIVE_SCAN, 8, 1), NW_ALGORITHM_LINEAR);
    assert_int_equal(nw_choice(NW_COLLECTIVE_BCAST, 8, 1),
                     NW_ALGORITHM_BINOMIAL);
    nw_choice_set("gather:ring", &bad);
    assert_non_null(bad); // no such gather
    nw_choice_set("off", &bad);
    assert_false(nw_choice_is_on());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sender_without_gpu),
        cmocka_unit_test(test_sender_with_late_gpu),
        cmocka_unit_test(test_both_with_gpu),
        cmocka_unit_test(test_inward),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_allgather),
        cmocka_unit_test(test_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
