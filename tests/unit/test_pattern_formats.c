/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of every foreign format: the tests read small files that were worked
 * out by hand, check the errors for each refused input, and read files that the
 * library wrote. */
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/nodewise-formats-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Reads the words as a file of that name; "FORMAT:NAME" has a prefix. */
static nw_status read_as(const char *input, const char *words, bool compact,
                         nw_pattern **out)
{
    struct nw_pattern_read_options options = NW_PATTERN_READ_OPTIONS_INIT;
    const char *colon = strchr(input, ':');
    const char *name = colon ? colon + 1 : input;
    char path[128], full[160];
    FILE *file;
    nw_status status;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(full, sizeof full, "%.*s%s", (int)(name - input), input, path);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(words, file);
    fclose(file);
    options.compact = compact;
    status = nw_pattern_read(full, &options, out);
    unlink(path);
    return status;
}

/* Checks the number of ranks and the edges, which are given as in "3: 0>1=5
 * 1>0=7". */
static void assert_edges(const nw_pattern *p, const char *expected)
{
    char text[512];
    int at = snprintf(text, sizeof text, "%d:", p->rank_count);

    for (int32_t r = 0; r < p->rank_count; r++)
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++) {
            assert_int_equal(p->kind[e], NW_KIND_HH);
            assert_int_equal(p->messages[e], 1);
            at += snprintf(text + at, sizeof text - (size_t)at, " %d>%d=%llu",
                           r, p->dst[e], (unsigned long long)p->bytes[e]);
        }
    assert_string_equal(text, expected);
}

struct good {
    const char *input, *words, *edges;
};

static const struct good good[] = {
    /* the same path of three in each format */
    {"metis:a", "3 2\n2\n1 3\n2\n", "3: 0>1=1 1>0=1 1>2=1 2>1=1"},
    {"metis:a", "% c\n3 2 1\n2 5\n1 5 3 7\n2 7\n",
     "3: 0>1=5 1>0=5 1>2=7 2>1=7"},
    {"metis:a", "3 1 11 2\n9 9 2 5\n9 9 1 5\n9 9\n", "3: 0>1=5 1>0=5"},
    {"metis:a", "3 1 10\n9 2\n9 1\n9\n", "3: 0>1=1 1>0=1"},
    {"metis:a", "3 1 100\n9 2\n9 1\n9\n\n\n", "3: 0>1=1 1>0=1"},
    {"metis:a", "2 0\n\n\n", "2:"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate integer general\n% c\n3 3 2\n"
     "1 2 5\n3 3 0\n",
     "3: 0>1=5"},
    {"mm:a", /* a Laplacian */
     "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n"
     "1 1 2\n2 1 -1\n3 2 -.25\n3 3 0.0\n",
     "3: 0>0=2 0>1=1 1>0=1 1>2=1 2>1=1"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n"
     "2 1 -3\n",
     "2: 0>1=3 1>0=3"},
    {"mm:a", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n-1\n0\n2\n",
     "3: 0>1=1 1>0=1 1>2=2 2>1=2"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate integer general\n2 2 3\n"
     "1 2 3\n2 1 1\n1 2 -4\n",
     "2: 0>1=7 1>0=1"},
    {"mm:a",
     "%%matrixmarket MATRIX coordinate real symmetric\n2 2 2\n"
     "1 1 1e3\n2 1 2.5e+01\n",
     "2: 0>0=1000 0>1=25 1>0=25"},
    {"mm:a", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n",
     "2: 1>0=1"},
    {"mm:a", "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n",
     "2: 0>0=1 0>1=3 1>0=2 1>1=4"},
    {"mm:a", "%%MatrixMarket matrix array real symmetric\n2 2\n0\n2.0\n4\n",
     "2: 0>1=2 1>0=2 1>1=4"},
    {"matrix:a", "0 5 0\n# c\n5 0 7e0\n0\t7 0\n", "3: 0>1=5 1>0=5 1>2=7 2>1=7"},
    {"matrix:a", "9\n", "1: 0>0=9"},
    {"list:a", "0 1 5.0e0\n2 1 7\n", "3: 0>1=5 2>1=7"},
    {"list:a", "0 1 5 3\n1 0 7 0.5\n", "2: 0>1=5 1>0=7"},
    {"qaplib:a", "2\n\n0 1\n2 0\n\n0 3.5\n3 0\n", "2: 0>1=1 1>0=2"},
    {"qaplib:a", "2 0 1 2 0 0 3\n3 0", "2: 0>1=1 1>0=2"},
    /* found without a prefix */
    {"a.graph", "3 2\n2\n1 3\n2\n", "3: 0>1=1 1>0=1 1>2=1 2>1=1"},
    {"a", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n",
     "2: 1>0=1"},
    {"a", "0 5\n7 0\n", "2: 0>1=5 1>0=7"},
    {"a", "0 1 5\n1 2 7\n", "3: 0>1=5 1>2=7"},
    {"a.list", "0 1 5\n1 2 7\n2 1 8\n", "3: 0>1=5 1>2=7 2>1=8"},
    {"a.mat", "0 1 5\n1 2 7\n2 1 8\n",
     "3: 0>1=1 0>2=5 1>0=1 1>1=2 1>2=7 2>0=2 2>1=1 2>2=8"},
    {"a", "2\n0 1\n2 0\n0 3\n3 0\n", "2: 0>1=1 1>0=2"},
};

static void reads_files_worked_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        nw_pattern *p;

        if (read_as(good[i].input, good[i].words, false, &p))
            fail_msg("%s: %s", good[i].words, nw_error_text());
        assert_edges(p, good[i].edges);
        nw_pattern_free(p);
    }
}

static const struct good bad[] = {
    {"metis:a", "", "a:1: the file is empty"},
    {"metis:a", "% c\n", "a:1: expected 'vertices edges"},
    {"metis:a", "x 2\n", "a:1: expected a number of vertices, not 'x'"},
    {"metis:a", "3 2 7\n", "three digits"},
    {"metis:a", "3 2 10 0\n", "1 to 1000"},
    {"metis:a", "0 0\n", "at least 1 rank"},
    {"metis:a", "99999999999 1\n", "can describe"},
    {"metis:a", "3 2\n2\n1 3\n", "a:3: the file ends after 2 of 3 vertices"},
    {"metis:a", "3 2\n2\n1 4\n2\n", "a:3: vertex 4 is outside 1 to 3"},
    {"metis:a", "3 2\n2\n1 0\n2\n", "a:3: vertex 0"},
    {"metis:a", "3 2\n2\n1 -3\n2\n", "a:3: expected a vertex, not '-3'"},
    {"metis:a", "3 2\n2\n2 3\n2\n", "a:3: vertex 2 is its own"},
    {"metis:a", "3 2\n2 2\n1 3\n2\n", "a:2: edge 0 -> 1 occurs twice"},
    {"metis:a", "3 2\n2\n1 3\n\n", "a:3: edge 2 - 3 is missing"},
    {"metis:a", "3 2\n2\n1\n1 2\n", "a:4: edge 3 - 1 is missing"},
    {"metis:a", "3 1 1\n2 0\n1 0\n\n", "a:2: the weight of an edge is 0"},
    {"metis:a", "2 1 1\n2 5\n1 6\n", "a:2: edge 1 - 2 is another weight"},
    {"metis:a", "2 1 1\n2\n1 6\n", "a:2: expected the weight of an edge"},
    {"metis:a", "3 3\n2\n1 3\n2\n", "a:1: 2 edges, the header says 3"},
    {"metis:a", "2 1\n2\n1\n2\n", "a:4: more than 2 vertices"},
    {"mm:a", "%%MatrixMarket tensor\n",
     "a:1: expected '%%MatrixMarket matrix'"},
    {"mm:a", "%%MatrixMarket matrix coordinate complex general\n",
     "not 'complex'"},
    {"mm:a", "%%MatrixMarket matrix coordinate real hermitian\n",
     "not 'hermitian'"},
    {"mm:a", "%%MatrixMarket matrix array pattern general\n",
     "exclude each other"},
    {"mm:a", "%%MatrixMarket matrix coordinate integer general\n2 3 1\n",
     "a:2: 2 rows and 3 columns"},
    {"mm:a", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n",
     "a:2: the file ends after 0 of 1"},
    {"mm:a", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n3 1 1\n",
     "a:3: index 3 is outside 1 to 2"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 --1\n",
     "not '--1'"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n1 1 2\n",
     "a:3: an entry on the diagonal"},
    {"mm:a", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n",
     "not 'nan'"},
    {"mm:a", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e30\n",
     "not '1e30'"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate integer general\n2 2 1\n"
     "1 2 1\n1 1 1\n",
     "a:4: more than 1 entry"},
    {"mm:a",
     "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n"
     "1 2 1\n",
     "a:3: an entry above"},
    {"mm:a", "%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n",
     "a:5: the file ends in column 2 of 2"},
    {"mm:a", "%%MatrixMarket matrix array integer general\n1 1\n1\n2\n",
     "a:4: expected the end of the file, not '2'"},
    {"matrix:a", "# c\n", "no rows"},
    {"matrix:a", "0 1\n1 0 0\n", "a:2: more than 2 columns"},
    {"matrix:a", "0 1\n1\n", "a:2: expected a number of bytes, the line ends"},
    {"matrix:a", "0 1\n1 0\n0 0\n", "a:3: more than 2 rows"},
    {"matrix:a", "0 1\n", "a:1: the file ends after 1 of 2 rows"},
    {"matrix:a", "0 -1\n0 0\n", "not '-1'"},
    {"list:a", "# c\n", "no edges"},
    {"list:a", "0 1\n", "a:1: expected a number of bytes, the line ends"},
    {"list:a", "0 1 5 1 1\n", "a:1: expected the end of the line, not '1'"},
    {"list:a", "0 1 5 far\n", "not 'far'"},
    {"list:a", "-1 1 5\n", "a:1: expected a rank, not '-1'"},
    {"list:a", "0 2147483647 5\n", "a:1: expected a rank"},
    {"list:a", "0 2000000000 5\n", "--compact renumbers"},
    {"list:a", "0 1 inf\n", "not 'inf'"},
    {"list:a", "0 1 5\n1 0 5\n0 1 6\n", "a:3: edge 0 -> 1 occurs twice"},
    {"qaplib:a", "x\n", "a:1: expected the size"},
    {"qaplib:a", "0\n", "a:1: size 0"},
    {"qaplib:a", "1000000\n0\n", "a:1: size 1000000 does not fit"},
    {"qaplib:a", "2\n0 1 1 0\n0 1 1\n", "a:3: the file ends within the dist"},
    {"qaplib:a", "2\n0 1 1 0\n0 1 1 0 7\n", "a:3: expected the end"},
    {"qaplib:a", "2\n0 -1 1 0\n0 1 1 0\n", "a:2: expected a flow, not '-1'"},
    {"qaplib:a", "2\n0 1 1 0\n0 -1 1 0\n",
     "a:3: expected a distance from 0, not '-1'"},
    {"a", "0 1 5\n1 2 7\n2 1 8\n", "matrix: or list:"},
    {"a", "hello world\n", "not a pattern of a format"},
    {"a", "# nothing\n", "not a pattern of a format"},
    {"a.mat", "0 1 2\n1 0 3\n",
     "a.mat:1: the contents look like list:, the name like"},
    {"a.graph", "99999999999 5\n1 2\n",
     "a.graph:1: the contents look like matrix:"},
    {"a.graph", "3 2\n2\n1 3\n", "a.graph:3: the file ends after 2 of 3"},
    {"a.edges", "0 1 5\n1 x 6\n", "a.edges:2: expected a rank, not 'x'"},
    {"a", "a\xc3\n", "not UTF-8"},
    {"mm:a", "0 1\n1 0\n", "expected '%%MatrixMarket"},
};

static void refuses_malformed_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nw_pattern *p = NULL;
        nw_status status = read_as(bad[i].input, bad[i].words, false, &p);

        if (status != NW_EFORMAT || p || !strstr(nw_error_text(), bad[i].edges))
            fail_msg("%s: '%s' lacks '%s'", bad[i].words, nw_error_text(),
                     bad[i].edges);
    }
}

static void compacts_sparse_ids(void **state)
{
    nw_pattern *p;

    (void)state;
    assert_int_equal(read_as("list:a", "7 2000000000 5\n100 7 6\n", true, &p),
                     NW_OK);
    assert_edges(p, "3: 0>2=5 1>0=6");
    nw_pattern_free(p);
}

static void gives_an_instance_as_flow_and_distances(void **state)
{
    char path[128];
    FILE *file;
    nw_pattern *flow;
    nw_topology *topology;
    double *distances;
    size_t n;

    (void)state;
    snprintf(path, sizeof path, "%s/a.dat", folder);
    file = fopen(path, "w");
    fputs("2\n0 1\n2 0\n0 3.5\n4 1\n", file);
    fclose(file);
    assert_int_equal(nw_qaplib_read(path, &flow, &distances, &n), NW_OK);
    unlink(path);
    assert_edges(flow, "2: 0>1=1 1>0=2");
    assert_int_equal(n, 2);
    assert_int_equal(nw_topology_from_distances("a", distances, n, &topology),
                     NW_OK);
    assert_int_equal(nw_topology_element_count(topology), 2);
    assert_true(
        nw_topology_distance(topology, nw_topology_element_end(topology, 0),
                             nw_topology_element_end(topology, 1)) == 3.5);
    assert_true(
        nw_topology_distance(topology, nw_topology_element_end(topology, 1),
                             nw_topology_element_end(topology, 1)) == 1);
    nw_topology_free(topology);
    nw_pattern_free(flow);
    free(distances);
}

/* A random pattern with one message per edge and only host memory, as all these
 * formats have it. Rank n - 1 always sends, so that a list of edges shows the
 * number of ranks. */
static nw_pattern *random_plain(struct nw_random *random, bool symmetric)
{
    uint64_t n = 2 + nw_random_below(random, 12);
    nw_pattern_builder *builder;
    nw_pattern *p;

    assert_int_equal(nw_pattern_builder_new((int32_t)n, &builder), NW_OK);
    for (uint64_t a = 0; a < n; a++)
        for (uint64_t b = 0; b < n; b++) {
            uint64_t bytes = 1 + (nw_random_next(random) >> 1);

            if ((symmetric && a <= b) ||
                (nw_random_below(random, 3) && a != n - 1))
                continue;
            assert_int_equal(nw_pattern_builder_add(builder, (int32_t)a,
                                                    (int32_t)b, NW_KIND_HH,
                                                    bytes, 1),
                             NW_OK);
            if (symmetric)
                assert_int_equal(nw_pattern_builder_add(builder, (int32_t)b,
                                                        (int32_t)a, NW_KIND_HH,
                                                        bytes, 1),
                                 NW_OK);
        }
    assert_int_equal(nw_pattern_builder_build(builder, &p), NW_OK);
    nw_pattern_builder_free(builder);
    return p;
}

static void assert_comes_back(const nw_pattern *p, const char *format)
{
    char path[128], input[160];
    nw_pattern *back = NULL;

    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(input, sizeof input, "%s:%s", format, path);
    if (nw_pattern_write_as(p, format, path) ||
        nw_pattern_read(input, NULL, &back))
        fail_msg("%s: %s", format, nw_error_text());
    unlink(path);
    assert_int_equal(p->rank_count, back->rank_count);
    assert_int_equal(p->edge_count, back->edge_count);
    assert_memory_equal(p->row, back->row,
                        (size_t)(p->rank_count + 1) * sizeof *p->row);
    assert_memory_equal(p->dst, back->dst, p->edge_count * sizeof *p->dst);
    assert_memory_equal(p->bytes, back->bytes,
                        p->edge_count * sizeof *p->bytes);
    assert_memory_equal(p->messages, back->messages,
                        p->edge_count * sizeof *p->messages);
    nw_pattern_free(back);
}

static void written_files_come_back(void **state)
{
    static const char *const formats[] = {"native", "mm", "matrix", "list"};
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 5);
    for (int i = 0; i < 60; i++) {
        nw_pattern *p = random_plain(&random, false);

        for (size_t f = 0; f < 4; f++)
            assert_comes_back(p, formats[f]);
        nw_pattern_free(p);
        p = random_plain(&random, true);
        assert_comes_back(p, "metis");
        nw_pattern_free(p);
    }
}

static void writes_layers_as_their_sum(void **state)
{
    nw_pattern_builder *builder;
    nw_pattern *p, *back;
    char path[128];

    (void)state;
    assert_int_equal(nw_pattern_builder_new(2, &builder), NW_OK);
    for (int kind = 0; kind < NW_KIND_COUNT; kind++)
        assert_int_equal(nw_pattern_builder_add(builder, 0, 1,
                                                (enum nw_kind)kind,
                                                (uint64_t)kind + 1, 9),
                         NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &p), NW_OK);
    nw_pattern_builder_free(builder);
    snprintf(path, sizeof path, "%s/a.mtx", folder);
    assert_int_equal(nw_pattern_write_as(p, "mm", path), NW_OK);
    assert_int_equal(nw_pattern_read(path, NULL, &back), NW_OK);
    assert_edges(back, "2: 0>1=10");
    nw_pattern_free(back);
    unlink(path);
    assert_int_equal(nw_pattern_write_as(p, "metis", path), NW_EUNSUPPORTED);
    assert_int_equal(nw_pattern_write_as(p, "xls", path), NW_EINVAL);
    assert_int_not_equal(access(path, F_OK), 0);
    nw_pattern_free(p);
}

/* Computed by hand: 10 items of each of 12 types are 800 bytes. A packed type
 * has 10 items and a vector has 2; only their number is known. Three more
 * messages have 20 + 20 + 28 bytes. Then follow the allreduce tree 96, alltoall
 * 52, allgather ring 3 x 56, gather to rank 1 60, alltoallv 8, allgatherv ring
 * 32, scatterv 8, reduce-scatter 8, scan 12, bcast 36, allreduce 36. */
static void reads_time_independent_traces(void **state)
{
    char input[512];
    nw_pattern *p;
    size_t e;

    (void)state;
    snprintf(input, sizeof input, "ti:%s/pattern/valid/trace",
             getenv("NW_FIXTURES"));
    if (nw_pattern_read(input, NULL, &p))
        fail_msg("%s", nw_error_text());
    assert_int_equal(p->rank_count, 4);
    for (e = p->row[0]; p->dst[e] != 1; e++)
        ;
    assert_int_equal(p->bytes[e], 812 + 68 + 96 + 52 + 168 + 60 + 8 + 32 + 8 +
                                      8 + 12 + 36 + 36);
    assert_int_equal(p->messages[e], 14 + 3 + 11);
    nw_pattern_free(p);
}

static const struct good bad_traces[] = {
    {"ti:a", "0 init\n2 init\n",
     "a:1: there are 3 ranks and no action of rank 1"},
    {"ti:a", "0 fly 3\n", "a:1: expected an action that is known, not 'fly'"},
    {"ti:a", "0 send 1 0 5 6\n", "a:1: rank 1 is outside 0 to 0"},
    {"ti:a", "0 init\n1 init\n0 send 1 0\n", "a:3: expected a number of items"},
    {"ti:a", "0 init\n1 init\n0 send 1 0 -5\n", "not '-5'"},
    {"ti:a", "0 init\n1 init\n0 send 1 0 5 6 7 8\n", "not '8'"},
    {"ti:a", "0 init\n1 init\n0 send 1 0 1e19 0\n", "more than 2^64"},
    {"ti:a", "0 init\n0 alltoallv 9 1 2 3 9 1 2 3\n", "the end of the line"},
    {"ti:a", "0 init\n999999999 init\n", "a:2: 1000000000 ranks"},
    {"ti:a", "0 init\nfoo\n", "a:2: expected a rank, not 'foo'"},
};

static void refuses_malformed_traces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_traces / sizeof *bad_traces; i++) {
        nw_pattern *p = NULL;
        nw_status status =
            read_as(bad_traces[i].input, bad_traces[i].words, false, &p);

        if (status != NW_EFORMAT || p ||
            !strstr(nw_error_text(), bad_traces[i].edges))
            fail_msg("%s: '%s' lacks '%s'", bad_traces[i].words,
                     nw_error_text(), bad_traces[i].edges);
    }
}

static void reads_monitoring_profiles(void **state)
{
    nw_pattern *p;

    (void)state;
    assert_int_equal(read_as("a.0.prof",
                             "# POINT TO POINT\n"
                             "E\t0\t0\t12 bytes\t3 msgs sent\t1,0,0,2,0\n"
                             "I\t0\t0\t9 bytes\t1 msgs sent\n"
                             "# OSC\n# COLLECTIVES\n"
                             "D\tMPI_COMM_WORLD\tprocs: 0\n",
                             false, &p),
                     NW_OK);
    assert_int_equal(p->edge_count, 1);
    assert_int_equal(p->bytes[0], 12);
    assert_int_equal(p->messages[0], 3);
    assert_int_equal(p->size_row[1], 2);
    assert_int_equal(p->size_bucket[1], 3);
    assert_int_equal(p->size_count[1], 2);
    assert_non_null(strstr(p->note, "9 bytes inside collectives"));
    nw_pattern_free(p);
}

static const struct good bad_profiles[] = {
    {"a.0.prof", "E\t0\t1\t12 bytes\t3 msgs sent\n", ":1: rank 1 is outside"},
    {"a.0.prof", "E\t0\t0\t12 bits\t3 msgs sent\n", "N bytes M msgs sent"},
    {"a.0.prof", "E\t0\t0\t-1 bytes\t3 msgs sent\n", "N bytes M msgs sent"},
    {"a.0.prof", "E\t0\t0\t1 bytes\t3 msgs sent\t1,x\n", "joined by commas"},
    {"a.0.prof", "E\t0\t0\t1 bytes\t3 msgs sent\t18446744073709551616\n",
     "a.0.prof:1: a count passes 2^64 - 1"},
    {"a.0.prof",
     "E\t0\t0\t1 bytes\t3 msgs sent\t0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
     "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
     "0,0,0,0,0,0,0,0,18446744073709551615,1\n",
     "a.0.prof:1: a count passes 2^64 - 1"},
    {"a.0.prof", "E\t0\n", "a rank, the line ends"},
    {"a.0.prof", "X\t0\n", "not 'X'"},
    {"a.0.prof", "\n", "a.0.prof:1: no line of Open MPI's monitoring"},
    {"a.0.prof",
     "E\t0\t0\t1 bytes\t3 msgs sent\nE\t0\t0\t1 bytes\t3 msgs sent\n",
     "a.0.prof:2: edge 0 -> 0 occurs twice"},
    {"a.0.prof", "E\t0\t0\t12 bytes\t3 msgs sent", ":1: the file is cut"},
    {"a.0.prof", "# POINT TO POINT\nE\t0\t0\t12 bytes\t3 msgs sent\n# OSC\n",
     "the file is cut short"},
};

static void refuses_malformed_profiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_profiles / sizeof *bad_profiles; i++) {
        nw_pattern *p = NULL;
        nw_status status =
            read_as(bad_profiles[i].input, bad_profiles[i].words, false, &p);

        if (status != NW_EFORMAT || p ||
            !strstr(nw_error_text(), bad_profiles[i].edges))
            fail_msg("%s: '%s' lacks '%s'", bad_profiles[i].words,
                     nw_error_text(), bad_profiles[i].edges);
    }
}

static void put_file(const char *name, const char *words)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(words, file);
    fclose(file);
}

static void joins_monitoring_matrices(void **state)
{
    char path[128], other[128];
    nw_pattern *p;

    (void)state;
    put_file("run_size.mat", "0 12\n0 0\n");
    put_file("run_msg.mat", "0 3\n2 0\n");
    snprintf(path, sizeof path, "monitoring:%s/run_size.mat", folder);
    snprintf(other, sizeof other, "%s/run_msg.mat", folder);
    assert_int_equal(nw_pattern_read(path, NULL, &p), NW_OK);
    assert_int_equal(p->edge_count, 2);
    assert_int_equal(p->bytes[0], 12);
    assert_int_equal(p->messages[0], 3);
    assert_int_equal(p->bytes[1], 0);
    assert_int_equal(p->messages[1], 2);
    nw_pattern_free(p);
    unlink(path + strlen("monitoring:"));
    unlink(other);
}

static void refuses_what_is_no_file(void **state)
{
    nw_pattern *p = NULL;

    (void)state;
    assert_int_equal(nw_pattern_read("/nowhere/at/all", NULL, &p), NW_EIO);
    assert_int_equal(nw_pattern_read("native:/tmp", NULL, &p), NW_EIO);
    assert_int_equal(nw_pattern_read("list:", NULL, &p), NW_EINVAL);
    assert_int_equal(nw_pattern_read("monitoring:/nowhere/a", NULL, &p),
                     NW_EIO);
    assert_int_equal(nw_pattern_read("ti:/nowhere/a", NULL, &p), NW_EIO);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_files_worked_by_hand),
        cmocka_unit_test(refuses_malformed_files),
        cmocka_unit_test(compacts_sparse_ids),
        cmocka_unit_test(gives_an_instance_as_flow_and_distances),
        cmocka_unit_test(written_files_come_back),
        cmocka_unit_test(writes_layers_as_their_sum),
        cmocka_unit_test(reads_time_independent_traces),
        cmocka_unit_test(refuses_malformed_traces),
        cmocka_unit_test(reads_monitoring_profiles),
        cmocka_unit_test(refuses_malformed_profiles),
        cmocka_unit_test(joins_monitoring_matrices),
        cmocka_unit_test(refuses_what_is_no_file),
    };

    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
