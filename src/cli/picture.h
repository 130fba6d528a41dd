/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes pictures in the format that the file's name asks for. */
#ifndef NW_CLI_PICTURE_H
#define NW_CLI_PICTURE_H

#include <nodewise/status.h>
#include <stdbool.h>

/* Returns true if pictures for this file are converted from SVG: its name ends
 * in .png or .pdf. */
bool nw_cli_is_converted(const char *file);

/* Writes a text to a file, or to standard output if `file` is "-". If the text
 * is an SVG picture and the file's name ends in .png or .pdf, rsvg-convert
 * makes that format of it. Returns NW_ENODEV if rsvg-convert is missing, and
 * NW_EHELPER if it fails. */
NW_MUST_CHECK nw_status nw_cli_picture_write(const char *file,
                                             const char *text);

#endif
