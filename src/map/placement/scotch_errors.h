/* SPDX-License-Identifier: BSD-3-Clause */
/* Scotch reports errors through functions of a separate library, which print on
 * stderr. Nodewise must not print, and must not change a program's own Scotch.
 * Therefore only the copy loaded here is redirected. */
#ifndef NW_MAP_PLACEMENT_SCOTCH_ERRORS_H
#define NW_MAP_PLACEMENT_SCOTCH_ERRORS_H

/* Redirects the calls of the loaded library `handle` to `symbol` to `address`.
 */
void nw_scotch_errors_redirect(void *handle, const char *symbol, void *address);

#endif
