/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8: validity, and control characters that change a terminal. */
#ifndef NW_BASE_UTF8_H
#define NW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the bytes are valid UTF-8 without NUL. */
bool nw_text_is_utf8(const char *bytes, size_t length);
/* Returns true if the bytes are ASCII without NUL. */
bool nw_text_is_ascii(const char *bytes, size_t length);
/* Returns the number of bytes of the character at `at`; 0 at the end of the
 * text or for invalid UTF-8. */
size_t nw_text_character(const char *at);
/* Returns the number of bytes of the character at `at` if it is a control
 * character or changes the direction of text; else 0. */
size_t nw_text_control(const char *at);
/* Replaces each control character by one '?'. */
void nw_text_hide_controls(char *words);
/* Returns the number of bytes of the longest prefix that has at most `most`
 * bytes and ends between two characters. */
size_t nw_text_cut(const char *words, size_t most);

#endif
