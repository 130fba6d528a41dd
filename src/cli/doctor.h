/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of things that nodewise doctor checks, and the functions that check
 * them. */
#ifndef NW_CLI_DOCTOR_H
#define NW_CLI_DOCTOR_H

#include "base/text.h"

#include <limits.h>
#include <stdbool.h>

enum nw_finding {
    NW_FOUND,
    NW_MISSING,
    NW_DENIED, /* installed, but this user may not use it */
};

/* One item of the list. look(what, detail) searches for the item; it appends
 * what it found, or why it found nothing, to `detail`. */
struct nw_check {
    const char *section, *name;
    enum nw_finding (*look)(const char *what, struct nw_text *detail);
    const char *what;  /* first argument of look() */
    const char *gives; /* features of Nodewise that need the item */
};

/* Appends the first word of the list "a b c" for which is() is true to
 * `detail`. Returns NW_FOUND, or NW_MISSING if is() is false for all words. */
enum nw_finding nw_doctor_tell_first(const char *words,
                                     bool (*is)(const char *word),
                                     struct nw_text *detail);

/* Checks of doctor_reach.c: kernel modules, stores of the CPU to GPU memory,
 * and dma-buf. The last two ignore `what`. */
enum nw_finding nw_doctor_module(const char *names, struct nw_text *detail);
enum nw_finding nw_doctor_stores(const char *what, struct nw_text *detail);
enum nw_finding nw_doctor_dmabuf(const char *what, struct nw_text *detail);

extern const struct nw_check nw_checks[];
extern const size_t nw_check_count;

#endif
