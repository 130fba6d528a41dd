/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress bar. On a terminal, it appears after two seconds (or at once
 * with --progress=always), is redrawn at most six times a second, and is
 * cleared at the end. Elsewhere, a line is printed every 30 s. */
#include "base/clock.h"
#include "cli/command.h"

#include <signal.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000u

/* The state of the bar; times are from nw_clock_ns(). */
static struct {
    uint64_t begun, drawn;
    bool terminal, shown, silent, at_once;
    bool listens; /* whether this process handles Ctrl-C; false if the parent
                     process set it to be ignored */
} bar;

static struct nw_progress progress;

static void on_interrupt(int signal)
{
    (void)signal;
    __atomic_store_n(&progress.cancelled, 1, __ATOMIC_RELAXED);
}

#define PROGRESS_BAR 16 /* number of characters of the bar itself */

/* Returns the estimated time left, such as ", 12 s left", from the share that
 * is done; "" if the share is too small for an estimate. */
static const char *progress_left(double share, uint64_t now, char out[32])
{
    double seconds = (double)(now - bar.begun) / (double)SECOND;

    *out = '\0';
    if (share > 0.01 && share < 1)
        snprintf(out, 32, ", %.0f s left", ceil(seconds * (1 - share) / share));
    return out;
}

static void progress_draw(uint64_t done, uint64_t total, const char *what)
{
    double share = total ? (double)done / (double)total : 0;
    int percent = (int)(100 * share);
    int filled = percent > 100 ? PROGRESS_BAR : percent * PROGRESS_BAR / 100;
    char left[32];

    if (!total) {
        fprintf(stderr, bar.terminal ? "\r%s\033[K" : "%s\n", what);
        bar.shown = bar.terminal;
        return;
    }
    progress_left(share, bar.drawn, left);
    if (!bar.terminal) {
        fprintf(stderr, "%s: %d %%%s\n", what, percent, left);
        return;
    }
    fprintf(stderr, "\r%s [%.*s%*s] %3d %%%s\033[K", what, filled,
            "################", PROGRESS_BAR - filled, "", percent, left);
    bar.shown = true;
}

/* Called by a computation after each step; draws if enough time has passed. */
static void progress_update(struct nw_progress *self, uint64_t done,
                            uint64_t total, const char *what)
{
    uint64_t now = nw_clock_ns();
    uint64_t pause = bar.terminal ? SECOND / 6 : 30ull * SECOND;

    (void)self;
    if (bar.silent || (!bar.at_once && now - bar.begun < 2ull * SECOND) ||
        now - bar.drawn < pause)
        return;
    bar.drawn = now;
    progress_draw(done, total, what);
}

static void progress_listen(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt,
                                     .sa_flags = (int)SA_RESETHAND};

    if (bar.listens)
        sigaction(SIGINT, &action, NULL);
}

static void progress_first(struct nw_progress *self, uint64_t done,
                           uint64_t total, const char *what)
{
    self->update = progress_update;
    progress_listen();
    progress_update(self, done, total, what);
}

struct nw_progress *nw_cli_progress_later(const struct nw_common *common)
{
    const char *when = common->progress ? common->progress : "auto";
    struct sigaction before = {.sa_handler = SIG_DFL};

    bar.terminal = isatty(STDERR_FILENO);
    bar.begun = nw_clock_ns();
    bar.silent = common->quiet || !strcmp(when, "never");
    bar.at_once = !strcmp(when, "always");
    bar.drawn = bar.terminal || bar.at_once ? 0 : bar.begun;
    bar.listens =
        sigaction(SIGINT, NULL, &before) || before.sa_handler != SIG_IGN;
    progress = (struct nw_progress){.update = progress_first};
    return &progress;
}

struct nw_progress *nw_cli_progress(const struct nw_common *common)
{
    nw_cli_progress_later(common)->update = progress_update;
    progress_listen();
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
