/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of how ranks find each other by a file. If the file already exists,
 * with words of killed ranks or other contents, every rank soon gets one error,
 * and a file that is not of this kind stays unchanged. */
#include "base/clock.h"
#include "channel/state.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/ranks.h"

enum { ROUNDS = 3, SOON_MS = 20000 };

static char path[64];

static struct nw_channel_options as_rank(int32_t rank, uint32_t timeout_ms)
{
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;

    options.rank = rank;
    options.count = 2;
    options.file = path;
    options.timeout_ms = timeout_ms;
    return options;
}

/* The word that a rank contributes in a round. */
static uint32_t word_of(int32_t rank, uint32_t round)
{
    return UINT32_C(1000) * round + (uint32_t)rank + 7;
}

static nw_status meet(int32_t rank, uint32_t timeout_ms)
{
    struct nw_channel_options options = as_rank(rank, timeout_ms);
    struct nw_meeting *meeting = NULL;
    nw_status status = nw_meeting_open(&options, &meeting);

    for (uint32_t round = 0; round < ROUNDS && !status; round++) {
        uint32_t mine = word_of(rank, round), all[2] = {0};

        status = nw_meeting_gather(meeting, &mine, sizeof mine, all);
        for (int32_t i = 0; i < 2 && !status; i++)
            SHOULD(all[i] == word_of(i, round));
    }
    nw_meeting_close(meeting);
    return status;
}

/* Writes the text to the file, as an earlier run would. */
static void leave_there(const void *text, size_t bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Whether the file contains exactly the text. */
static bool is_there(const void *text, size_t bytes)
{
    char seen[256];
    FILE *file = fopen(path, "r");
    size_t n;

    if (!file)
        return false;
    n = fread(seen, 1, sizeof seen, file);
    (void)fclose(file);
    return n == bytes && !memcmp(seen, text, bytes);
}

/* -- what each rank finds -- */

struct expected {
    nw_status status;
    const char *words;
};

static void meet_as(const void *about, int32_t rank)
{
    const struct expected *expected = about;
    uint64_t start = nw_clock_ns();
    nw_status status = meet(rank, 10 * SOON_MS);

    SHOULD(status == expected->status);
    SHOULD(!status || strstr(nw_error_text(), expected->words));
    SHOULD(nw_clock_ns() - start < UINT64_C(1000000) * SOON_MS);
}

static void ranks_meet(void **state)
{
    struct expected well = {NW_OK, ""};

    (void)state;
    for (int i = 0; i < 3; i++) { // the file is removed each time
        assert_int_equal(ranks_fork(2, meet_as, &well), 0);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    leave_there("", 0);
    assert_int_equal(ranks_fork(2, meet_as, &well), 0);
}

/* An earlier run was killed after rank 1 had written to the file and before
 * rank 0 had. */
static void one_was_killed(void **state)
{
    static const char words[] = "0 1 08000000\n"; // word_of(1, 0)
    struct expected twice = {NW_EINVAL, "rank 1 is here twice"};

    (void)state;
    leave_there(words, strlen(words));
    assert_int_equal(ranks_fork(2, meet_as, &twice), 0);
    twice = (struct expected){NW_OK, ""}; // rank 0 has removed the file
    assert_int_equal(ranks_fork(2, meet_as, &twice), 0);
}

static void something_else_is_there(void **state)
{
    static const char zeros[100], *const texts[] = {
                                      "Dear diary,\n",    "0 5 01020304\n",
                                      "7 0 01020304\n",   "0 1 0102",
                                      "0 1 01020304\n\n", zeros};
    struct expected none = {NW_EFORMAT,
                            "does not hold the addresses of 2 ranks"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t bytes = texts[i] == zeros ? sizeof zeros : strlen(texts[i]);

        leave_there(texts[i], bytes);
        assert_int_equal(ranks_fork(2, meet_as, &none), 0);
        assert_true(is_there(texts[i], bytes));
    }
    (void)unlink(path);
}

/* A list of edges begins as the lines of ranks do. It keeps its content and its
 * permissions, whether the ranks come as far as reading it or not. */
static void a_list_of_edges_is_there(void **state)
{
    static const char *const texts[] = {"0 1 1024\n", "0 1\n1 0\n",
                                        "1 0 10\n1 0 20\n"};
    struct nw_channel_options options = as_rank(0, 50);
    struct nw_meeting *meeting = NULL;
    uint32_t mine = 1, all[2];
    struct stat about;

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof texts / sizeof *texts); i++) {
        const char *text = texts[i / 2];

        leave_there(text, strlen(text));
        assert_int_equal(chmod(path, 0644), 0);
        assert_int_equal(nw_meeting_open(&options, &meeting), NW_OK);
        if (i % 2)
            assert_int_equal(
                nw_meeting_gather(meeting, &mine, sizeof mine, all),
                NW_EFORMAT);
        nw_meeting_close(meeting);
        assert_true(is_there(text, strlen(text)));
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0644);
        assert_int_equal(unlink(path), 0);
    }
}

static void it_is_no_file(void **state)
{
    struct expected none = {NW_EIO, "not a regular file"};
    struct stat about;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ranks_fork(2, meet_as, &none), 0);
    assert_true(!stat(path, &about) && S_ISFIFO(about.st_mode));
    (void)unlink(path);
}

/* A channel that fails to open closes no descriptor of the program, such as 0,
 * its standard input. */
static void a_failure_closes_nothing_else(void **state)
{
    struct nw_channel_options options = as_rank(0, SOON_MS);
    int in = dup(0), other = open("/dev/null", O_RDONLY);
    nw_channel *channel = NULL;

    (void)state;
    options.file = "/dev/null";
    assert_int_equal(dup2(other, 0), 0);
    assert_int_equal(nw_channel_open(&options, &channel), NW_EIO);
    assert_int_not_equal(fcntl(0, F_GETFD), -1);
    if (other > 0)
        (void)close(other);
    if (in >= 0) {
        (void)dup2(in, 0);
        (void)close(in);
    }
}

/* After a timeout, the next run finds no file. */
static void nobody_else_comes(void **state)
{
    (void)state;
    assert_int_equal(meet(1, 50), NW_EIO);
    assert_non_null(
        strstr(nw_error_text(), "only 1 of 2 ranks arrived in time"));
    assert_int_not_equal(access(path, F_OK), 0);
}

/* The file of another run that was started meanwhile is left alone. */
static void another_meets_there(void **state)
{
    struct nw_channel_options options = as_rank(0, 50);
    struct nw_meeting *meeting = NULL;
    uint32_t mine = 1, all[2];

    (void)state;
    assert_int_equal(nw_meeting_open(&options, &meeting), NW_OK);
    (void)unlink(path);
    leave_there("0 1 01020304\n", 13);
    assert_int_equal(nw_meeting_gather(meeting, &mine, sizeof mine, all),
                     NW_EIO);
    nw_meeting_close(meeting);
    assert_true(is_there("0 1 01020304\n", 13));
    (void)unlink(path);
}

/* A link of another user to a file of this user is refused, and the file stays
 * as it is. A link of this user is followed. Only root can make a link of
 * another user. */
static void it_is_a_link(void **state)
{
    struct expected well = {NW_OK, ""}, none = {NW_EIO, "cannot open it"};
    char mine[80];

    (void)state;
    leave_there("", 0);
    snprintf(mine, sizeof mine, "%s.mine", path);
    assert_int_equal(rename(path, mine), 0);
    assert_int_equal(symlink(mine, path), 0);
    assert_int_equal(ranks_fork(2, meet_as, &well), 0);
    (void)unlink(path);
    assert_int_equal(truncate(mine, 0), 0);
    assert_int_equal(symlink(mine, path), 0);
    if (!geteuid()) {
        assert_int_equal(lchown(path, 65534, 65534), 0);
        assert_int_equal(ranks_fork(2, meet_as, &none), 0);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(mine, path), 0);
    assert_true(is_there("", 0));
    assert_int_equal(unlink(path), 0);
}

/* A process that holds the lock and does not run on, for example because it was
 * stopped, does not hold the ranks beyond their time-out. */
static void somebody_keeps_the_lock(void **state)
{
    int file;

    (void)state;
    leave_there("", 0);
    file = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_int_equal(meet(1, 50), NW_EIO);
    assert_non_null(strstr(nw_error_text(), "keeps it locked"));
    assert_int_equal(close(file), 0);
    (void)unlink(path);
}

/* Only root can make a file of another user, so that the test needs root. */
static void another_user_owns_the_file(void **state)
{
    struct nw_channel_options options = as_rank(0, 50);
    struct nw_meeting *meeting = NULL;
    struct stat about;

    (void)state;
    leave_there("", 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(nw_meeting_open(&options, &meeting), NW_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    nw_meeting_close(meeting);
    if (geteuid())
        skip();
    leave_there("", 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(nw_meeting_open(&options, &meeting), NW_EIO);
    assert_non_null(strstr(nw_error_text(), "another user owns this file"));
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_meet),
        cmocka_unit_test(one_was_killed),
        cmocka_unit_test(something_else_is_there),
        cmocka_unit_test(a_list_of_edges_is_there),
        cmocka_unit_test(it_is_no_file),
        cmocka_unit_test(a_failure_closes_nothing_else),
        cmocka_unit_test(nobody_else_comes),
        cmocka_unit_test(another_meets_there),
        cmocka_unit_test(it_is_a_link),
        cmocka_unit_test(somebody_keeps_the_lock),
        cmocka_unit_test(another_user_owns_the_file),
    };

    snprintf(path, sizeof path, "/tmp/nodewise-meeting-%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
