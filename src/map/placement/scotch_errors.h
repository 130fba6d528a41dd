/* SPDX-License-Identifier: BSD-3-Clause */
/* Scotch reports errors through functions that a library of its own defines to
 * print on stderr. Ours must not print, and must not change what a program's
 * own Scotch does: so only the library loaded here is pointed elsewhere. */
#ifndef NW_MAP_PLACEMENT_SCOTCH_ERRORS_H
#define NW_MAP_PLACEMENT_SCOTCH_ERRORS_H

/* Makes calls that the loaded library `handle` makes to `symbol` go to
 * `address`. */
void nw_scotch_errors_redirect(void *handle, const char *symbol, void *address);

#endif
