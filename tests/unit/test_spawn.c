/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of helper programs that answer, crash or never end. The calling program
 * is never forked, whatever its other threads do. */
#include "base/clock.h"
#include "base/spawn.h"

#include <nodewise/topology.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Time limits in seconds: of a helper that never ends, and of one that does,
 * which may take long on a busy machine. */
enum { SHORT = 1, LONG = 240 };

static int ask(const char *what, const char *input, unsigned seconds,
               struct nw_text *answer)
{
    const char *const arguments[] = {what, NULL};
    const struct nw_spawn spawn = {"spawned", arguments, input,
                                   input ? strlen(input) : 0, seconds};
    int how = 0;

    assert_int_equal(nw_spawn_run(&spawn, answer, &how), NW_OK);
    return how;
}

static void the_answer_is_whole(void **state)
{
    struct nw_text answer = {0};
    char *input = malloc(1 << 20);

    (void)state;
    memset(input, 'x', (1 << 20) - 1);
    input[(1 << 20) - 1] = '\0';
    assert_int_equal(ask("echo", input, LONG, &answer), 0);
    assert_int_equal(answer.length, (1 << 20) - 1);
    assert_string_equal(answer.data, input);
    nw_text_fini(&answer);
    assert_int_equal(ask("echo", NULL, LONG, &answer), 0);
    assert_int_equal(answer.length, 0);
    free(input);
}

static void a_crash_is_reported(void **state)
{
    struct nw_text answer = {0};
    int how;

    (void)state;
    how = ask("crash", NULL, LONG, &answer);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    nw_text_fini(&answer);
}

static void nobody_waits_longer_than_the_limit(void **state)
{
    static const char *const endless[] = {"hang", "deaf"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct nw_text answer = {0};

        alarm(240);
        assert_int_equal(ask(endless[i], "abc", SHORT, &answer),
                         NW_SPAWN_TIMED_OUT);
        alarm(0);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
        nw_text_fini(&answer);
    }
}

static void preloads_stay_here(void **state)
{
    struct nw_text answer = {0};

    (void)state;
    assert_int_equal(ask("preload", NULL, LONG, &answer), 0);
    assert_string_equal(answer.data, "no");
    nw_text_fini(&answer);
}

static void an_absent_helper_is_named(void **state)
{
    static const char *const none[] = {NULL};
    struct nw_text answer = {0};
    int how;

    (void)state;
    assert_int_equal(
        nw_spawn_run(&(struct nw_spawn){"no-such-helper", none, NULL, 0, 1},
                     &answer, &how),
        NW_ENODEV);
    assert_non_null(strstr(nw_error_text(), "no-such-helper"));
}

static int run_command(const char *const *words, struct nw_text *answer)
{
    const struct nw_spawn spawn = {.program = words[0],
                                   .arguments = words + 1,
                                   .seconds = 1,
                                   .from_path = true};
    int how = 0;

    if (nw_spawn_run(&spawn, answer, &how))
        return NW_ENODEV;
    return how;
}

static bool is_under_valgrind(void)
{
    const char *wrapper = getenv("NW_UNIT_WRAPPER");

    return wrapper && strstr(wrapper, "valgrind");
}

static void commands_of_the_system_have_a_limit_too(void **state)
{
    static const char *const hang[] = {"sleep", "1000", NULL};
    static const char *const none[] = {"no-such-command", NULL};
    static const char *const many[] = {"echo", "1", "2", "3", "4", "5",
                                       "6",    "7", "8", "9", NULL};
    struct nw_text answer = {0};
    int how;

    (void)state;
    assert_int_equal(run_command(many, &answer), NW_ENODEV);
    assert_non_null(strstr(nw_error_text(), "more than 8 arguments"));
    assert_int_equal(run_command(hang, &answer), NW_SPAWN_TIMED_OUT);
    how = run_command(none, &answer);
    /* valgrind replaces vfork by fork: posix_spawn then cannot report that the
     * program is missing, and its child exits with 127 */
    if (is_under_valgrind()) {
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 127);
    } else {
        assert_int_equal(how, NW_ENODEV);
        assert_non_null(strstr(nw_error_text(), "no-such-command"));
    }
    nw_text_fini(&answer);
}

static volatile bool over;

/* Holds the lock of the environment most of the time. The names exist before
 * the thread begins: a new one would move the table while getenv() reads it in
 * the other thread without a lock, as glibc before 2.41 does. */
static void change_names(unsigned i)
{
    static char value[4096];
    char name[32];

    if (!*value)
        memset(value, 'x', sizeof value - 1);
    snprintf(name, sizeof name, "K%u", i % 2000);
    setenv(name, value + i % 4000, 1);
}

static void *change_environment(void *unused)
{
    for (unsigned i = 0; !over; i++)
        change_names(i);
    return unused;
}

/* A forked child would find the lock taken, with no thread to release it. */
static void other_threads_may_change_the_environment(void **state)
{
    const char *source = getenv("NW_SOURCE");
    char file[4096];
    pthread_t thread;

    (void)state;
    snprintf(file, sizeof file,
             "%s/tests/fixtures/topology/valid/gpu-memory.v1.xml", source);
    for (unsigned i = 0; i < 2000; i++)
        change_names(i);
    assert_int_equal(pthread_create(&thread, NULL, change_environment, NULL),
                     0);
    alarm(240);
    for (int i = 0; i < 8; i++) {
        nw_topology *topology = NULL;

        if (nw_topology_load(file, NULL, &topology))
            fail_msg("%s", nw_error_text());
        nw_topology_free(topology);
    }
    alarm(0);
    over = true;
    (void)pthread_join(thread, NULL);
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_whole),
        cmocka_unit_test(a_crash_is_reported),
        cmocka_unit_test(nobody_waits_longer_than_the_limit),
        cmocka_unit_test(preloads_stay_here),
        cmocka_unit_test(an_absent_helper_is_named),
        cmocka_unit_test(commands_of_the_system_have_a_limit_too),
        cmocka_unit_test(other_threads_may_change_the_environment),
    };

    /* as if a library were preloaded into the tests from their start */
    if (!getenv("LD_PRELOAD")) {
        setenv("LD_PRELOAD", "", 1);
        (void)execv("/proc/self/exe", words);
        return count;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
