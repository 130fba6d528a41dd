/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress bar: on a terminal from the second second on, at most six
 * redraws a second, cleared at the end; elsewhere a line every 30 s. */
#include "base/clock.h"
#include "cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000u

static struct {
    uint64_t begun, drawn;
    bool terminal, shown, silent, at_once;
    bool listens; /* to Ctrl-C, which who started us may have us ignore */
} bar;

static struct nw_progress progress;

static void on_interrupt(int signal)
{
    (void)signal;
    __atomic_store_n(&progress.cancelled, 1, __ATOMIC_RELAXED);
}

static void draw(uint64_t done, uint64_t total, const char *what)
{
    int percent = total ? (int)((double)done / (double)total * 100) : 0;
    int filled = percent > 100 ? 30 : percent * 30 / 100;

    if (!total) {
        fprintf(stderr, bar.terminal ? "\r%s\033[K" : "%s\n", what);
        bar.shown = bar.terminal;
        return;
    }
    if (!bar.terminal) {
        fprintf(stderr, "%s: %d %%\n", what, percent);
        return;
    }
    fprintf(stderr, "\r%s [%.*s%*s] %3d %%\033[K", what, filled,
            "##############################", 30 - filled, "", percent);
    bar.shown = true;
}

static void update(struct nw_progress *self, uint64_t done, uint64_t total,
                   const char *what)
{
    uint64_t now = nw_clock_ns();
    uint64_t pause = bar.terminal ? SECOND / 6 : 30ull * SECOND;

    (void)self;
    if (bar.silent || (!bar.at_once && now - bar.begun < 2ull * SECOND) ||
        now - bar.drawn < pause)
        return;
    bar.drawn = now;
    draw(done, total, what);
}

struct nw_progress *nw_cli_progress(const struct nw_common *common)
{
    const char *when = common->progress ? common->progress : "auto";
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)SA_RESETHAND};
    struct sigaction before = {.sa_handler = SIG_DFL};

    bar.terminal = isatty(STDERR_FILENO);
    bar.begun = nw_clock_ns();
    bar.drawn = bar.terminal ? 0 : bar.begun;
    bar.silent = common->quiet || !strcmp(when, "never");
    bar.at_once = !strcmp(when, "always");
    progress = (struct nw_progress){.update = update};
    bar.listens =
        sigaction(SIGINT, NULL, &before) || before.sa_handler != SIG_IGN;
    if (bar.listens)
        sigaction(SIGINT, &action, NULL);
    return &progress;
}

void nw_cli_progress_finish(void)
{
    if (bar.shown)
        fputs("\r\033[K", stderr);
    bar.shown = false;
    if (bar.listens)
        signal(SIGINT, SIG_DFL);
    bar.listens = false;
}
