/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8: what is well formed, and characters that a terminal would obey. */
#ifndef NW_BASE_UTF8_H
#define NW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* True where the bytes are well-formed UTF-8 without NUL. */
bool nw_text_is_utf8(const char *bytes, size_t length);
/* The same of ASCII. */
bool nw_text_is_ascii(const char *bytes, size_t length);
/* Bytes of the character at `at`; 0 at the end or if it is invalid UTF-8. */
size_t nw_text_character(const char *at);
/* Bytes of the character at `at` if a terminal would obey it instead of showing
 * it: control characters, and those that turn the direction of text; else 0. */
size_t nw_text_control(const char *at);
/* Each of these becomes one '?'. */
void nw_text_hide_controls(char *words);
/* Bytes of the longest beginning that has at most `most` bytes and does not cut
 * a character. */
size_t nw_text_cut(const char *words, size_t most);

#endif
