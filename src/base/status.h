/* SPDX-License-Identifier: BSD-3-Clause */
/* How the inside of the library says that something failed. */
#ifndef NW_BASE_STATUS_H
#define NW_BASE_STATUS_H

#include <nodewise/status.h>

/* A function's former name, which linked programs may still use. */
#define NW_OLD_NAME(old, name)                                                 \
    __typeof__(name) old __attribute__((alias(#name)))

/* Bytes of the longest sentence, its end included. */
#define NW_ERROR_MOST 1024

/* Stores the sentence for nw_error_text() and returns `status`. The first
 * function that knows of an error calls it; callers only pass it on. */
nw_status nw_fail(nw_status status, const char *format, ...) NW_PRINTF(2, 3);

/* The subject of a failure, for a caller that knows the file although the
 * failing function does not. */
enum nw_subject {
    NW_ABOUT_NOTHING,
    NW_ABOUT_HOSTS,   /* those to use: too few, or none of the machine's */
    NW_ABOUT_FIXED,   /* ranks fixed in place, */
    NW_ABOUT_MAPPING, /* the mapping; of both `rank`, or the whole where -1 */
    NW_ABOUT_PATTERN, /* sums of its bytes or messages */
};
struct nw_about {
    enum nw_subject subject;
    int rank;
};

#define NW_HOSTS ((struct nw_about){NW_ABOUT_HOSTS, -1})
#define NW_FIXED(rank) ((struct nw_about){NW_ABOUT_FIXED, rank})
#define NW_SUMMED ((struct nw_about){NW_ABOUT_PATTERN, -1})
#define NW_MAPPED(rank) ((struct nw_about){NW_ABOUT_MAPPING, rank})

/* As nw_fail, and nw_error_about() answers `about` until the next failure. */
nw_status nw_fail_about(struct nw_about about, nw_status status,
                        const char *format, ...) NW_PRINTF(3, 4);
struct nw_about nw_error_about(void);

/* The last failure on its way from one thread to another. */
struct nw_error {
    char sentence[NW_ERROR_MOST];
    struct nw_about about;
};
void nw_error_keep(struct nw_error *error);
/* Makes it this thread's last one; returns `status`. */
nw_status nw_error_pass(nw_status status, const struct nw_error *error);

#endif
