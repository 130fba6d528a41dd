/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Length of the well-formed sequence at `at` (Unicode 15, table 3-7), or 0. */
static size_t utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t length;

    if (*at < 0x80)
        return *at != 0;
    if (*at < 0xc2 || *at > 0xf4)
        return 0;
    length = *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    if (*at == 0xe0)
        low = 0xa0;
    else if (*at == 0xed)
        high = 0x9f;
    else if (*at == 0xf0)
        low = 0x90;
    else if (*at == 0xf4)
        high = 0x8f;
    if (length > left || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xbf)
            return 0;
    return length;
}

/* Sets the high bit of each byte that is NUL or not ASCII; the byte after a NUL
 * may be marked, too. */
static inline uint64_t odd_bytes(const unsigned char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return (word | (word - ones)) & (ones << 7); /* a byte of 0 borrows from the
                                                    next byte */
}

/* Returns the number of ASCII bytes other than NUL at the start. It checks many
 * bytes at a time, since most of a large file is ASCII. */
static size_t count_ascii(const unsigned char *at, size_t length)
{
    size_t count = 0;

    while (length - count >= 32 &&
           !(odd_bytes(at + count) | odd_bytes(at + count + 8) |
             odd_bytes(at + count + 16) | odd_bytes(at + count + 24)))
        count += 32;
    while (count < length && at[count] && at[count] < 0x80)
        count++;
    return count;
}

bool nw_text_is_ascii(const char *bytes, size_t length)
{
    return count_ascii((const unsigned char *)bytes, length) == length;
}

bool nw_text_is_utf8(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;

    while (length) {
        size_t plain = count_ascii(at, length), step;

        at += plain;
        length -= plain;
        if (!length)
            break;
        step = utf8_sequence(at, length);
        if (!step)
            return false;
        at += step;
        length -= step;
    }
    return true;
}

size_t nw_text_character(const char *at)
{
    return *at ? utf8_sequence((const unsigned char *)at, strnlen(at, 4)) : 0;
}

size_t nw_text_control(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;

    if (*byte && (*byte < ' ' || *byte == 0x7f))
        return 1;
    if (*byte == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
        return 2; /* U+0080 to U+009F */
    if (*byte == 0xd8 && byte[1] == 0x9c)
        return 2; /* U+061C */
    if (*byte != 0xe2 || (byte[1] != 0x80 && byte[1] != 0x81))
        return 0;
    /* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 */
    return byte[1] == 0x80 ? 3 * (byte[2] == 0x8e || byte[2] == 0x8f ||
                                  (byte[2] >= 0xa8 && byte[2] <= 0xae))
                           : 3 * (byte[2] >= 0xa6 && byte[2] <= 0xa9);
}

void nw_text_hide_controls(char *words)
{
    char *to = words;

    while (*words) {
        size_t length = nw_text_control(words);

        *to++ = length ? '?' : *words;
        words += length ? length : 1;
    }
    *to = '\0';
}

size_t nw_text_cut(const char *words, size_t most)
{
    size_t length = strnlen(words, most);

    while (length && ((unsigned char)words[length] & 0xc0) == 0x80)
        length--;
    return length;
}
