/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions of the library report errors. */
#ifndef NW_BASE_STATUS_H
#define NW_BASE_STATUS_H

#include <nodewise/status.h>
#include <stdarg.h>

/* Keeps the former name of a function for programs that are linked with it. */
#define NW_OLD_NAME(old, name)                                                 \
    __typeof__(name) old __attribute__((alias(#name)))

/* Maximum number of bytes of an error message, with its NUL. */
#define NW_ERROR_MOST 1024

/* Stores the message for nw_error_text() and returns `status`. The function
 * that finds an error calls it; its callers only return the status. */
nw_status nw_fail(nw_status status, const char *format, ...) NW_PRINTF(2, 3);

/* Like nw_fail with NW_EFORMAT, about a line of a file. */
nw_status nw_fail_line(const char *file, int line, const char *format,
                       va_list args) NW_PRINTF(3, 0);

/* The subject of a failure. A caller that knows the file of this subject can
 * then name the file, which the failing function does not know. */
enum nw_subject {
    NW_ABOUT_NOTHING,
    NW_ABOUT_HOSTS,   /* the hosts to use: too few, or unknown to the machine */
    NW_ABOUT_FIXED,   /* a rank of the fixed ranks; `rank` is its number */
    NW_ABOUT_MAPPING, /* the mapping; `rank` is a rank, or -1 for the whole */
    NW_ABOUT_PATTERN, /* a sum over the pattern's bytes or messages */
};
struct nw_about {
    enum nw_subject subject;
    int rank;
};

#define NW_HOSTS ((struct nw_about){NW_ABOUT_HOSTS, -1})
#define NW_FIXED(rank) ((struct nw_about){NW_ABOUT_FIXED, rank})
#define NW_SUMMED ((struct nw_about){NW_ABOUT_PATTERN, -1})
#define NW_MAPPED(rank) ((struct nw_about){NW_ABOUT_MAPPING, rank})

/* Like nw_fail; nw_error_about() returns `about` until the next failure. */
nw_status nw_fail_about(struct nw_about about, nw_status status,
                        const char *format, ...) NW_PRINTF(3, 4);
struct nw_about nw_error_about(void);

/* A copy of a thread's last failure, to pass it to another thread. */
struct nw_error {
    char sentence[NW_ERROR_MOST];
    struct nw_about about;
};
void nw_error_keep(struct nw_error *error);
/* Makes the copied failure the last one of this thread; returns `status`. */
nw_status nw_error_pass(nw_status status, const struct nw_error *error);

#endif
