/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of things that nodewise doctor checks, and its checks. */
#ifndef NW_CLI_DOCTOR_H
#define NW_CLI_DOCTOR_H

#include "base/text.h"

#include <limits.h>
#include <stdbool.h>

enum nw_finding {
    NW_FOUND,
    NW_MISSING,
    NW_DENIED, /* here, but not for this user */
};

/* One thing to look for. `look` adds what it found, or why not, to `detail`. */
struct nw_check {
    const char *section, *name;
    enum nw_finding (*look)(const char *what, struct nw_text *detail);
    const char *what;  /* for look */
    const char *gives; /* what it is good for here */
};

/* The first word of "a b c" for which is() holds, stored in the buffer; or
 * NULL. */
const char *nw_doctor_first(const char *words, bool (*is)(const char *word),
                            char room[PATH_MAX]);

/* Like nw_doctor_first, but adds the name of the word to `detail`. */
enum nw_finding nw_doctor_tell_first(const char *words,
                                     bool (*is)(const char *word),
                                     struct nw_text *detail);

/* doctor_reach.c; the last two do not read `what`. */
enum nw_finding nw_doctor_module(const char *names, struct nw_text *detail);
enum nw_finding nw_doctor_stores(const char *what, struct nw_text *detail);
enum nw_finding nw_doctor_dmabuf(const char *what, struct nw_text *detail);

extern const struct nw_check nw_checks[];
extern const size_t nw_check_count;

#endif
