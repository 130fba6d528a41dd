/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of all statuses, and each thread's last error message. */
#include "base/status.h"

#include "base/c_locale.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A word in quotes with more than WORD_MOST bytes, which is hardly a path, is
 * shortened to WORD_KEPT bytes in an error message. */
enum { WORD_MOST = 300, WORD_KEPT = 60 };

static _Thread_local char last_error[NW_ERROR_MOST];
static _Thread_local struct nw_about last_about;

static const struct {
    const char *name;
    const char *text;
} statuses[] = {
#define STATUS_ROW(name, sentence) {#name, sentence},
    NW_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static const size_t status_count = sizeof(statuses) / sizeof(*statuses);

const char *nw_status_name(nw_status status)
{
    return (size_t)status < status_count ? statuses[status].name : "unknown";
}

const char *nw_status_text(nw_status status)
{
    return (size_t)status < status_count ? statuses[status].text
                                         : "unknown status";
}

const char *nw_error_text(void)
{
    return last_error;
}

/* Returns the closing quote of a word, or the end of the text. */
static char *word_end(char *word)
{
    char *end = strchr(word, '\'');

    return end ? end : word + strlen(word);
}

/* Shortens quoted words, which may be whole lines of input, to their
 * beginnings. */
static void shorten_words(char *text)
{
    for (char *at = text; (at = strchr(at, '\'')); at++) {
        char *word = at + 1, *end, *cut;

        if (at > text && at[-1] != ' ' && at[-1] != '(')
            continue;
        end = word_end(word);
        cut = word + nw_text_cut(word, WORD_KEPT);
        if (end - word > WORD_MOST) {
            memcpy(cut, "...", 3);
            memmove(cut + 3, *end ? end : "'", strlen(*end ? end : "'") + 1);
            end = cut + 3;
        }
        if (!*end)
            return;
        at = end;
    }
}

static NW_PRINTF(1, 0) void store(const char *format, va_list args)
{
    /* The sentence is first written to a copy, because an argument may be
     * nw_error_text() itself. */
    char sentence[sizeof last_error];

    nw_vsnprintf(sentence, sizeof sentence, format, args);
    nw_text_hide_controls(sentence); /* invalid input may have any bytes */
    shorten_words(sentence);
    snprintf(last_error, sizeof last_error, "%s", sentence);
}

nw_status nw_fail(nw_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    store(format, args);
    va_end(args);
    last_about = (struct nw_about){NW_ABOUT_NOTHING, -1};
    return status;
}

nw_status nw_fail_line(const char *file, int line, const char *format,
                       va_list args)
{
    char what[512];

    nw_vsnprintf(what, sizeof what, format, args);
    return nw_fail(NW_EFORMAT, "%s:%d: %s", file, line, what);
}

nw_status nw_fail_about(struct nw_about about, nw_status status,
                        const char *format, ...)
{
    va_list args;

    va_start(args, format);
    store(format, args);
    va_end(args);
    last_about = about;
    return status;
}

struct nw_about nw_error_about(void)
{
    return last_about;
}

void nw_error_keep(struct nw_error *error)
{
    memcpy(error->sentence, last_error, sizeof last_error);
    error->about = last_about;
}

nw_status nw_error_pass(nw_status status, const struct nw_error *error)
{
    memcpy(last_error, error->sentence, sizeof last_error);
    last_about = error->about;
    return status;
}
