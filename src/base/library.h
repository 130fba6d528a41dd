/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared libraries that are loaded when they are first needed. */
#ifndef NW_BASE_LIBRARY_H
#define NW_BASE_LIBRARY_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

struct nw_symbol {
    const char *name;
    void *address; /* of a function pointer, set on success */
};

/* Loads `soname` (never unloaded) and fills every symbol. NW_ENODEV with the
 * library's name where it or a symbol is missing; `purpose` ends the sentence
 * ("to read .zst files"). May be called again, by any thread; later calls
 * are cheap. */
NW_MUST_CHECK nw_status nw_library_load(const char *soname,
                                        const struct nw_symbol *symbols,
                                        size_t count, const char *purpose);

#endif
