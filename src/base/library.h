/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads shared libraries at their first use. */
#ifndef NW_BASE_LIBRARY_H
#define NW_BASE_LIBRARY_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

/* A function of a shared library. */
struct nw_symbol {
    const char *name;
    void *address; /* address of a function pointer, which nw_library_load
                      sets */
};

/* Loads `soname`, which is never unloaded, and sets every symbol. Returns
 * NW_ENODEV, with the library's name, if the library or a symbol is missing;
 * `purpose` ends the message ("to read .zst files"). May be called again by any
 * thread; later calls are cheap. */
NW_MUST_CHECK nw_status nw_library_load(const char *soname,
                                        const struct nw_symbol *symbols,
                                        size_t count, const char *purpose);

#endif
