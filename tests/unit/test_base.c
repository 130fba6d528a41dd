/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"
#include "base/parallel.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/json.h"
#include "base/name_index.h"
#include "base/process.h"
#include "base/random.h"
#include "base/status.h"
#include "base/text.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void parses_plain_integers_only(void **state)
{
    static const char *const bad[] = {
        "",    " 1",  "1 ",  "+1",  "-1",
        "0x1", "1.0", "1e3", "nan", "18446744073709551616"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(nw_parse_u64(bad[i], &value));
    assert_int_equal(value, 7);
    assert_true(nw_parse_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_true(nw_parse_u64("010", &value));
    assert_int_equal(value, 10);
}

static void parses_byte_counts(void **state)
{
    uint64_t value;

    (void)state;
    assert_true(nw_parse_bytes("5.591e+05", &value));
    assert_int_equal(value, 559100);
    assert_true(nw_parse_bytes("9007199254740993", &value));
    assert_true(value == 9007199254740993u);
    assert_false(nw_parse_bytes("1e20", &value));
    assert_false(nw_parse_bytes("18446744073709551616", &value));
    assert_false(nw_parse_bytes("-1", &value));
    assert_false(nw_parse_bytes("-0.4", &value));
    assert_false(nw_parse_bytes("inf", &value));
}

static void parses_units(void **state)
{
    static const struct {
        const char *word;
        enum nw_unit unit;
        double value;
    } good[] = {
        {"12.5GB/s", NW_UNIT_BANDWIDTH, 12.5e9},
        {"100Gbit/s", NW_UNIT_BANDWIDTH, 12.5e9},
        {"1.2us", NW_UNIT_TIME, 1.2e-6},
        {"1.2 µs", NW_UNIT_TIME, 1.2e-6},
        {"3e-6", NW_UNIT_TIME, 3e-6},
        {"2s", NW_UNIT_TIME, 2},
        {"1MiB", NW_UNIT_BYTES, 1048576},
        {"64kB", NW_UNIT_BYTES, 64000},
        {"64k", NW_UNIT_BYTES, 64000},
        {"1e9", NW_UNIT_BANDWIDTH, 1e9},
    };
    static const char *const bad[] = {"",      "GB/s",  "-1GB/s", "1 GB",
                                      "nan",   "1XB/s", "1GB/sx", "0x10",
                                      "1e400", "1.2.3"};
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(nw_parse_quantity(good[i].word, good[i].unit, &value));
        assert_true(fabs(value / good[i].value - 1) < 1e-12);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(nw_parse_quantity(bad[i], NW_UNIT_BANDWIDTH, &value));
}

static void parses_durations_and_sizes(void **state)
{
    static const struct {
        const char *word;
        double seconds;
    } good[] = {{"5m", 300}, {"1min", 60}, {"0.5h", 1800},
                {"90s", 90}, {"90", 90},   {"250ms", 0.25}};
    static const char *const bad[] = {"", "m", "5x", "5 m", "-5m", "1.2.3h"};
    double value;
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(nw_parse_duration(good[i].word, &value));
        assert_true(fabs(value / good[i].seconds - 1) < 1e-12);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(nw_parse_duration(bad[i], &value));
    assert_true(nw_parse_size("64k", &bytes) && bytes == 64000);
    assert_true(nw_parse_size("1MiB", &bytes) && bytes == 1048576);
    assert_true(nw_parse_size("4096", &bytes) && bytes == 4096);
    assert_false(nw_parse_size("4096x", &bytes));
    assert_false(nw_parse_size("-1", &bytes));
}

static void knows_utf8(void **state)
{
    (void)state;
    assert_true(nw_text_is_utf8("Zürich", strlen("Zürich")));
    assert_false(nw_text_is_utf8("\xff", 1));
    assert_false(nw_text_is_utf8("\xc0\xaf", 2));     /* overlong */
    assert_false(nw_text_is_utf8("\xed\xa0\x80", 3)); /* surrogate */
    assert_false(nw_text_is_utf8("a\0b", 3));
    assert_false(nw_text_is_utf8("\xe2\x82", 2)); /* truncated */
    for (size_t i = 0; i < 40; i++) {
        char text[40];

        memset(text, 'a', sizeof text);
        assert_true(nw_text_is_utf8(text, sizeof text));
        text[i] = '\0';
        assert_false(nw_text_is_utf8(text, sizeof text));
        text[i] = '\x80';
        assert_false(nw_text_is_utf8(text, sizeof text));
    }
}

static void characters_are_counted_and_not_torn(void **state)
{
    (void)state;
    assert_int_equal(nw_text_character("ab"), 1);
    assert_int_equal(nw_text_character(""), 0);
    assert_int_equal(nw_text_character("\xc3\xbc"
                                       "x"),
                     2);
    assert_int_equal(nw_text_character("\xe2\x82\xac"), 3);
    assert_int_equal(nw_text_character("\xf0\x9f\x98\x80"), 4);
    assert_int_equal(nw_text_character("\xe2\x82"), 0); /* cut short */
    assert_int_equal(nw_text_character("\x82"), 0);
    assert_int_equal(nw_text_cut("a\xe2\x82\xac", 9), 4);
    assert_int_equal(nw_text_cut("a\xe2\x82\xac", 4), 4);
    assert_int_equal(nw_text_cut("a\xe2\x82\xac", 3), 1);
    assert_int_equal(nw_text_cut("a\xe2\x82\xac", 1), 1);
    assert_int_equal(nw_text_cut("\x82\x82\x82", 2), 0);
}

static void lines_skip_comments_and_count(void **state)
{
    char data[] = "# head\n\n  one two # tail\r\n\tthree\n";
    struct nw_lines lines;
    char *line;

    (void)state;
    nw_lines_init(&lines, "f", data);
    line = nw_lines_next(&lines);
    assert_string_equal(line, "one two");
    assert_int_equal(lines.line, 3);
    assert_string_equal(nw_word_next(&line), "one");
    assert_string_equal(nw_word_next(&line), "two");
    assert_null(nw_word_next(&line));
    assert_string_equal(nw_lines_next(&lines), "three");
    assert_null(nw_lines_next(&lines));
}

static void packed_files_come_back(void **state)
{
    char path[] = "/tmp/nodewise-test-XXXXXX.zst";
    static const char text[] = "pattern pattern pattern\n";
    char *data;
    size_t length;
    int fd = mkstemps(path, 4);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(nw_file_write(path, text, strlen(text)), NW_OK);
    assert_int_equal(nw_file_read_text(path, &data, &length), NW_OK);
    assert_string_equal(data, text);
    free(data);
    assert_int_equal(truncate(path, 8), 0);
    assert_int_equal(nw_file_read_text(path, &data, &length), NW_EFORMAT);
    unlink(path);
}

/* The number of memory pages that sysconf, which this test replaces, reports: a
 * machine of 128 MiB. */
static long pages;

long sysconf(int what)
{
    static long (*real)(int);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return what == _SC_PHYS_PAGES && pages ? pages : real(what);
}

static void write_without_end(const int ends[2])
{
    static char block[65536];
    int to = ends[1];

    close(ends[0]);
    signal(SIGPIPE, SIG_DFL);
    memset(block, 'x', sizeof block);
    while (write(to, block, sizeof block) > 0)
        ;
    _exit(0);
}

static void pipes_and_packed_data_end(void **state)
{
    char path[] = "/tmp/nodewise-test-XXXXXX.zst", *data = NULL;
    size_t length;
    int ends[2], fd = mkstemps(path, 4);
    pid_t child;

    (void)state;
    assert_true(fd >= 0 && !pipe(ends));
    close(fd);
    assert_int_equal(nw_alloc(65 << 20, 1, &data), NW_OK);
    assert_int_equal(nw_file_write(path, data, 65 << 20), NW_OK);
    free(data);
    child = fork();
    if (!child)
        write_without_end(ends);
    close(ends[1]);
    pages = (128 << 20) / sysconf(_SC_PAGESIZE);
    assert_int_equal(nw_file_read(path, &data, &length), NW_EFORMAT);
    assert_non_null(strstr(nw_error_text(), ":1: more than 64 MiB are packed"));
    unlink(path);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(nw_file_read(path, &data, &length), NW_EIO);
    assert_non_null(strstr(nw_error_text(), ": more than 64 MiB from a pipe"));
    pages = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void lines_end_in_returns_too(void **state)
{
    char path[] = "/tmp/nodewise-test-XXXXXX", *data;
    size_t length;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(nw_file_write(path, "a\r\rb\r", 5), NW_OK);
    assert_int_equal(nw_file_read_text(path, &data, &length), NW_OK);
    assert_string_equal(data, "a\n\nb\n");
    free(data);
    unlink(path);
}

static void an_empty_path_has_no_folders(void **state)
{
    (void)state;
    assert_int_equal(nw_file_folders("", 0700), NW_OK);
}

static void what_is_no_text_is_named(void **state)
{
    static const struct {
        const char *bytes, *answer; /* NULL: the text "ab" */
    } files[] = {
        {"\xef\xbb\xbf"
         "ab",
         NULL},
        {"ab", NULL},
        {"\xef\xbb\xbf", ":1: the file is empty"},
        {"\x1f\x8b\x08", ":1: packed by gzip"},
        {"\xfd"
         "7zXZ",
         ":1: packed by xz"},
        {"\x28\xb5\x2f\xfd", ":1: packed by zstd"},
        {"\xff\xfe"
         "a",
         ":1: UTF-16"},
        {"\xfe\xff"
         "a",
         ":1: UTF-16"},
        {"a\n\x1f\x8b", ":2: not UTF-8 text"},
    };
    char path[] = "/tmp/nodewise-test-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *bytes = files[i].bytes;
        char *data = NULL;
        size_t length;

        assert_int_equal(nw_file_write(path, bytes, strlen(bytes)), NW_OK);
        assert_int_equal(nw_file_read_text(path, &data, &length),
                         files[i].answer ? NW_EFORMAT : NW_OK);
        if (files[i].answer)
            assert_non_null(strstr(nw_error_text(), files[i].answer));
        else
            assert_string_equal(data, "ab");
        free(data);
    }
    unlink(path);
}

static void failures_are_one_line(void **state)
{
    static char word[20001];

    (void)state;
    assert_int_equal(nw_fail(NW_EFORMAT, "%s:%d: x", "a\nb", 3), NW_EFORMAT);
    assert_string_equal(nw_error_text(), "a?b:3: x");
    for (size_t i = 0; i < 20000; i++)
        word[i] = i % 2 ? '\xa9' : '\xc3';
    assert_int_equal(nw_fail(NW_EFORMAT, "a's '%s' is not 'b'", word),
                     NW_EFORMAT);
    assert_int_equal(strlen(nw_error_text()), strlen("a's '...'") + 60);
    assert_true(nw_text_is_utf8(nw_error_text(), strlen(nw_error_text())));
    word[401] = '\0';
    assert_int_equal(nw_fail(NW_EFORMAT, "a's '%s' is not 'b'", word + 1),
                     NW_EFORMAT);
    assert_int_equal(strlen(nw_error_text()),
                     strlen("a's '...' is not 'b'") + 59);
}

static void json_is_as_written(void **state)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    (void)state;
    nw_json_object(&json, NULL);
    nw_json_string(&json, "a", "x\"\n\xe9\xc3\xa9\xf0\x9f");
    nw_json_number(&json, "b", 0.1);
    nw_json_wide(&json, "c", (nw_uint128)1 << 100);
    nw_json_flat_array(&json, "d");
    nw_json_integer(&json, NULL, 1);
    nw_json_integer(&json, NULL, -2);
    nw_json_end_array(&json);
    nw_json_number(&json, "e", NAN);
    nw_json_end_object(&json);
    assert_string_equal(text.data,
                        "{\n  \"a\": \"x\\\"\\u000a\xef\xbf\xbd\xc3\xa9"
                        "\xef\xbf\xbd\xef\xbf\xbd\",\n  \"b\": 0.1,\n"
                        "  \"c\": 1267650600228229401496703205376,\n"
                        "  \"d\": [1, -2],\n  \"e\": null\n}\n");
    nw_text_fini(&text);
}

/* The first values of the authors' reference code from the state 1, 2, 3, 4. */
static void random_is_xoshiro(void **state)
{
    struct nw_random random = {{1, 2, 3, 4}};

    (void)state;
    assert_true(nw_random_next(&random) == 11520);
    assert_true(nw_random_next(&random) == 0);
    assert_true(nw_random_next(&random) == 1509978240);
    assert_true(nw_random_next(&random) == 1215971899390074240);
}

static void misspelt_variables_are_found(void **state)
{
    char *good[] = {"HOME=/", "NODEWISE=x", "NODEWISE_RECORD=a=b", NULL};
    char *bad[] = {"NODEWISE_RECORD=x", "NODEWISE_RECORDS=x", NULL};
    char *cut[] = {"NODEWISE_RECOR", NULL};

    (void)state;
    assert_null(nw_environment_unknown(good));
    assert_ptr_equal(nw_environment_unknown(bad), bad[1]);
    assert_ptr_equal(nw_environment_unknown(cut), cut[0]);
    assert_null(nw_environment_unknown(NULL));
    for (const struct nw_variable *row = nw_environment; row[1].name; row++)
        assert_true(strcmp(row->name, row[1].name) < 0);
}

static void words_of_variables_are_whole(void **state)
{
    (void)state;
    assert_true(nw_environment_takes("NODEWISE_CHANNEL_REACH", "yes"));
    assert_true(nw_environment_takes("NODEWISE_CHANNEL_REACH", "no"));
    assert_false(nw_environment_takes("NODEWISE_CHANNEL_REACH", "ye"));
    assert_false(nw_environment_takes("NODEWISE_CHANNEL_REACH", "yes|no"));
    assert_false(nw_environment_takes("NODEWISE_CHANNEL_REACH", ""));
    assert_false(nw_environment_takes("NODEWISE_CHANNEL_REAC", "yes"));
}

/* Small and large allocations are zero, also if they reuse memory that was
 * written and freed before. */
static void clears_what_it_allocates(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes <= (size_t)1 << 22; bytes *= 4)
        for (int again = 0; again < 2; again++) {
            unsigned char *memory;

            assert_int_equal(nw_alloc(bytes, 1, &memory), NW_OK);
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(memory[i], 0);
            memset(memory, 0xff, bytes);
            free(memory);
        }
}

static void refuses_sizes_that_wrap(void **state)
{
    void *memory = state, *raw = state;

    assert_int_equal(nw_alloc(SIZE_MAX / 2, 4, &memory), NW_ENOMEM);
    assert_int_equal(nw_alloc_raw(SIZE_MAX / 2, 4, &raw), NW_ENOMEM);
    assert_null(memory);
    assert_null(raw);
}

static void allocates_up_to_the_first_that_fails(void **state)
{
    struct {
        int32_t *first;
        double *huge, *last;
    } three;

    (void)state;
    memset(&three, 0xff, sizeof three); /* as in a variable without a value */
    assert_int_equal(NW_ALLOC_ALL(NW_ARRAY(3, three.first),
                                  NW_ARRAY(SIZE_MAX / 4, three.huge),
                                  NW_ARRAY(5, three.last)),
                     NW_ENOMEM);
    assert_non_null(three.first);
    assert_int_equal(three.first[0] | three.first[1] | three.first[2], 0);
    assert_null(three.huge);
    assert_null(three.last);
    NW_FREE_ALL(three.first, three.huge, three.last);
}

/* Counts how many jobs run at once, and the most that ever did, for crews
 * within a pair and pairs within those crews. */
struct herd {
    int32_t running, most, done[3];
    int32_t threads;
};

static void count_in(struct herd *herd)
{
    int32_t now = __atomic_add_fetch(&herd->running, 1, __ATOMIC_RELAXED);
    int32_t most = __atomic_load_n(&herd->most, __ATOMIC_RELAXED);

    while (now > most &&
           !__atomic_compare_exchange_n(&herd->most, &most, now, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void graze(void *user, int32_t i)
{
    struct herd *herd = user;

    count_in(herd);
    usleep(100);
    __atomic_fetch_add(&herd->done[i % 3], 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&herd->running, 1, __ATOMIC_RELAXED);
}

/* A job that starts ten more jobs; three of these make 30 jobs. */
static void graze_ten(void *user, int32_t i)
{
    struct herd *herd = user;

    (void)i;
    nw_parallel_run(graze, herd, 10, herd->threads);
}

static nw_status run_crew(void *user)
{
    struct herd *herd = user;

    nw_parallel_run(graze, herd, 30, herd->threads);
    return NW_OK;
}

static nw_status run_pair(void *user)
{
    struct herd *herd = user;
    struct nw_parallel_task both[] = {{.run = run_crew, .user = herd},
                                      {.run = run_crew, .user = herd}};

    return nw_parallel_pair(both, herd->threads);
}

static void crews_share_their_threads(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= 5; threads++) {
        struct herd herd = {.threads = threads};
        struct nw_parallel_task both[] = {{.run = run_crew, .user = &herd},
                                          {.run = run_pair, .user = &herd}};

        assert_int_equal(nw_parallel_pair(both, threads), NW_OK);
        for (int i = 0; i < 3; i++)
            assert_int_equal(herd.done[i], 30);
        assert_true(herd.most <= threads);
        assert_int_equal(herd.running, 0);
        herd = (struct herd){.threads = threads};
        nw_parallel_run(graze_ten, &herd, 3, threads);
        assert_int_equal(herd.done[0] + herd.done[1] + herd.done[2], 30);
        assert_true(herd.most <= threads);
    }
}

static nw_status fail_with(void *user)
{
    const char *const *words = user;

    return *words ? nw_fail(NW_EINVAL, "%s", *words) : NW_OK;
}

/* On any number of threads, the error is that of the first of the two functions
 * that failed, in the order of the arguments. */
static void the_first_of_a_pair_is_blamed(void **state)
{
    const char *words[2];

    (void)state;
    for (int32_t threads = 1; threads <= 3; threads++)
        for (int which = 0; which < 4; which++) {
            struct nw_parallel_task both[] = {
                {.run = fail_with, .user = &words[0]},
                {.run = fail_with, .user = &words[1]}};

            words[0] = which & 1 ? "first" : NULL;
            words[1] = which & 2 ? "second" : NULL;
            assert_int_equal(nw_parallel_pair(both, threads),
                             which ? NW_EINVAL : NW_OK);
            if (which)
                assert_string_equal(nw_error_text(),
                                    which & 1 ? "first" : "second");
        }
}

static nw_status fail_some(void *user, int32_t i)
{
    const bool *fails = user;

    return fails[i] ? nw_fail(NW_EINVAL, "job %d", i) : NW_OK;
}

static void the_first_that_fails_is_blamed(void **state)
{
    bool fails[20] = {0};

    (void)state;
    for (int32_t threads = 1; threads <= 3; threads++) {
        fails[7] = fails[11] = fails[19] = false;
        assert_int_equal(nw_parallel_try(fail_some, fails, 20, threads), NW_OK);
        fails[7] = fails[11] = fails[19] = true;
        for (int repeat = 0; repeat < 20; repeat++) {
            assert_int_equal(nw_parallel_try(fail_some, fails, 20, threads),
                             NW_EINVAL);
            assert_string_equal(nw_error_text(), "job 7");
        }
    }
}

/* sh must read quoted words as the original words. */
static void shells_read_words_back(void **state)
{
    static const char *const values[] = {"plain/1.2", "", "it's", "a b",
                                         "$x `y`\t\\"};
    char got[64];

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct nw_text text = {0};
        char variable[64];
        FILE *shell;
        size_t length;

        snprintf(variable, sizeof variable, "VALUE=%s", values[i]);
        nw_text_add_variable(&text, variable);
        nw_text_add(&text, " printenv VALUE");
        shell = popen(text.data, "r");
        assert_non_null(shell);
        length = fread(got, 1, sizeof got - 1, shell);
        assert_int_equal(pclose(shell), 0);
        got[length] = '\0';
        assert_int_equal(length, strlen(values[i]) + 1);
        assert_memory_equal(got, values[i], length - 1);
        nw_text_fini(&text);
    }
}

static void finds_names(void **state)
{
    struct {
        int line;
        const char *name;
    } one[] = {{1, "b"}, {2, "a"}, {3, "c"}, {4, "b"}, {5, ""}};
    static const int32_t sorted[] = {4, 1, 0, 3, 2};
    struct nw_names names = NW_NAMES(one, name, 5);
    int32_t *order;

    (void)state;
    assert_int_equal(nw_names_sort(names, &order), NW_OK);
    assert_memory_equal(order, sorted, sizeof sorted);
    assert_int_equal(nw_names_find(names, order, "b"), 0);
    assert_int_equal(nw_names_find(names, order, ""), 4);
    assert_int_equal(nw_names_find(names, order, "aa"), -1);
    assert_int_equal(nw_names_find(names, order, "d"), -1);
    assert_int_equal(nw_names_repeated(names, order), 3);
    free(order);
    names.count = 3;
    assert_int_equal(nw_names_sort(names, &order), NW_OK);
    assert_int_equal(nw_names_repeated(names, order), 0);
    free(order);
    names.count = 0;
    assert_int_equal(nw_names_find(names, NULL, "a"), -1);
}

/* A table finds each name that it has, also after it has grown. */
static void notes_names(void **state)
{
    struct nw_name_table table = {0};
    char text[1000][8], *names[1000];
    size_t number;

    (void)state;
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < 1000; i++) {
            names[i] = text[i];
            snprintf(text[i], sizeof text[i], "n%zu", i);
            assert_int_equal(
                nw_name_table_note(&table, names, text[i], &number), NW_OK);
            assert_int_equal(number, i);
            assert_int_equal(table.count, round ? 1000 : i + 1);
        }
    free(table.slot);
}

static void finds_a_parent_process(void **state)
{
    char process = '-';

    (void)state;
    assert_int_equal(nw_process_parent(getpid(), &process), getppid());
    assert_int_equal(process, 'R');
    assert_int_equal(nw_process_parent(INT32_MAX, &process), -1);
    assert_int_equal(process, 'R');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_names),
        cmocka_unit_test(notes_names),
        cmocka_unit_test(finds_a_parent_process),
        cmocka_unit_test(shells_read_words_back),
        cmocka_unit_test(parses_plain_integers_only),
        cmocka_unit_test(parses_byte_counts),
        cmocka_unit_test(parses_units),
        cmocka_unit_test(parses_durations_and_sizes),
        cmocka_unit_test(knows_utf8),
        cmocka_unit_test(characters_are_counted_and_not_torn),
        cmocka_unit_test(lines_skip_comments_and_count),
        cmocka_unit_test(packed_files_come_back),
        cmocka_unit_test(pipes_and_packed_data_end),
        cmocka_unit_test(lines_end_in_returns_too),
        cmocka_unit_test(an_empty_path_has_no_folders),
        cmocka_unit_test(what_is_no_text_is_named),
        cmocka_unit_test(failures_are_one_line),
        cmocka_unit_test(json_is_as_written),
        cmocka_unit_test(random_is_xoshiro),
        cmocka_unit_test(misspelt_variables_are_found),
        cmocka_unit_test(words_of_variables_are_whole),
        cmocka_unit_test(crews_share_their_threads),
        cmocka_unit_test(the_first_of_a_pair_is_blamed),
        cmocka_unit_test(the_first_that_fails_is_blamed),
        cmocka_unit_test(clears_what_it_allocates),
        cmocka_unit_test(refuses_sizes_that_wrap),
        cmocka_unit_test(allocates_up_to_the_first_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
