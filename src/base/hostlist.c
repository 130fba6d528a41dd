/* SPDX-License-Identifier: BSD-3-Clause */
/* Expands short lists of node names and compresses names to such lists, for
 * cluster files, --hosts and Slurm's variables. */
#include "base/hostlist.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 18
#define BLANKS " \t\r\n"

/* The state while a list is expanded. */
struct expansion {
    const char *text; /* the whole list, for messages */
    struct nw_hostlist *list;
    char name[NW_HOSTNAME_MAX + 1]; /* the name built so far */
};

static nw_status hostlist_bad(const struct expansion *x, const char *what)
{
    return nw_fail(NW_EFORMAT, "host list '%.60s%s': %s", x->text,
                   strlen(x->text) > 60 ? "..." : "", what);
}

/* Appends the name that was built to the list. */
static nw_status hostlist_push(struct expansion *x)
{
    struct nw_hostlist *list = x->list;
    nw_status status;

    if (!*x->name)
        return hostlist_bad(x, "a name is empty");
    if (list->count == NW_HOSTLIST_MAX)
        return hostlist_bad(x, "more than 1048576 names");
    status = nw_grow(&list->name, &list->capacity, list->count + 1,
                     sizeof *list->name);
    if (!status)
        status = nw_strdup(x->name, &list->name[list->count]);
    if (!status)
        list->count++;
    return status;
}

/* Writes `count` bytes after the first `length` bytes of the name. */
static nw_status hostlist_put(struct expansion *x, size_t length,
                              const char *bytes, size_t count)
{
    if (length + count > NW_HOSTNAME_MAX)
        return hostlist_bad(x, "a name is longer than 255 bytes");
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)bytes[i] <= ' ' || bytes[i] == 0x7f ||
            strchr("]#'\"", bytes[i]))
            return hostlist_bad(x, bytes[i] == ']'
                                       ? "a ']' without '['"
                                       : "a character no name can have");
    memcpy(x->name + length, bytes, count);
    x->name[length + count] = '\0';
    return NW_OK;
}

static nw_status expand_rest(struct expansion *x, size_t length,
                             const char *rest, const char *end);

/* Increments a number in decimal digits; it gets one more digit after 99. */
static void count_on(char *digits, size_t *count)
{
    size_t i = *count;

    while (i && digits[i - 1] == '9')
        digits[--i] = '0';
    if (i) {
        digits[i - 1]++;
        return;
    }
    digits[0] = '1';
    digits[(*count)++] = '0';
}

/* Expands one item "7" or "001-128" of a bracket. The text from tail[0] to
 * tail[1] follows each number. */
static nw_status expand_range(struct expansion *x, size_t length,
                              const char *item, const char *tail[2])
{
    char low[MAX_DIGITS + 2], high[MAX_DIGITS + 2], digits[32];
    size_t width = strspn(item, "0123456789"), upper = width, count;
    const char *second = item;
    uint64_t first, last;

    if (item[width] == '-') {
        second = item + width + 1;
        upper = strspn(second, "0123456789");
    }
    if (!strchr(",]", second[upper]) || !width || !upper)
        return hostlist_bad(x,
                            "a bracket holds numbers and ranges such as 1-3");
    if (width > MAX_DIGITS || upper > MAX_DIGITS)
        return hostlist_bad(x, "a number has more than 18 digits");
    snprintf(low, sizeof low, "%.*s", (int)width, item);
    snprintf(high, sizeof high, "%.*s", (int)upper, second);
    if (!nw_parse_u64(low, &first) || !nw_parse_u64(high, &last) ||
        first > last)
        return hostlist_bad(
            x, "a range runs from the smaller number to the larger");
    memcpy(digits, low, width);
    count = width;
    for (uint64_t i = first; i <= last; i++, count_on(digits, &count)) {
        nw_status status = hostlist_put(x, length, digits, count);

        if (!status)
            status = expand_rest(x, length + count, tail[0], tail[1]);
        if (status)
            return status;
    }
    return NW_OK;
}

/* Expands the text from `rest` to `end` after the first `length` bytes of the
 * name. */
static nw_status expand_rest(struct expansion *x, size_t length,
                             const char *rest, const char *end)
{
    const char *open = memchr(rest, '[', (size_t)(end - rest)), *close;
    size_t literal = (size_t)((open ? open : end) - rest);
    nw_status status = hostlist_put(x, length, rest, literal);

    if (status)
        return status;
    if (!open)
        return hostlist_push(x);
    close = memchr(open, ']', (size_t)(end - open));
    if (!close)
        return hostlist_bad(x, "a '[' without ']'");
    while (!status && *open != ']') {
        status = expand_range(x, length + literal, open + 1,
                              (const char *[]){close + 1, end});
        open += 1 + strcspn(open + 1, ",]");
    }
    return status;
}

/* Returns the comma or end of text after the first name; skips brackets. */
static const char *end_of_name(const char *text)
{
    bool inside = false;

    for (; *text && (inside || *text != ','); text++)
        inside = *text == '[' || (inside && *text != ']');
    return text;
}

nw_status nw_hostlist_expand(const char *text, struct nw_hostlist *list)
{
    struct expansion x = {.text = text, .list = list};
    size_t before = list->count;
    nw_status status = NW_OK;
    const char *end;

    for (const char *rest = text; !status; rest = end + 1) {
        const char *last = end = end_of_name(rest);

        /* variables often end in a line feed, and lists have blanks */
        rest += strspn(rest, BLANKS);
        while (last > rest && strchr(BLANKS, last[-1]))
            last--;
        status = expand_rest(&x, 0, rest, last);
        if (!*end)
            break;
    }
    while (status && list->count > before)
        free(list->name[--list->count]);
    return status;
}

void nw_hostlist_fini(struct nw_hostlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->name[i]);
    free(list->name);
    *list = (struct nw_hostlist){0};
}

/* A name, divided at its last digits. */
struct parts {
    const char *name, *suffix;
    size_t prefix, width; /* number of bytes before the digits; number of
                             digits, or 0 */
    uint64_t number;
};

/* Divides a name at its last digits. */
static struct parts hostlist_cut(const char *name)
{
    struct parts parts = {.name = name};
    const char *end = name + strlen(name), *start;
    char digits[MAX_DIGITS + 1];

    while (end > name && (end[-1] < '0' || end[-1] > '9'))
        end--;
    for (start = end; start > name && start[-1] >= '0' && start[-1] <= '9';)
        start--;
    if (end - start > MAX_DIGITS) /* too many digits for a number */
        start = end;
    parts.suffix = end;
    parts.prefix = (size_t)(start - name);
    parts.width = (size_t)(end - start);
    memcpy(digits, start, parts.width);
    digits[parts.width] = '\0';
    if (parts.width && !nw_parse_u64(digits, &parts.number))
        parts.width = 0;
    return parts;
}

/* Returns true if two names differ only in their last number. One bracket can
 * then hold both numbers. */
static bool same_bracket(const struct parts *a, const struct parts *b)
{
    return a->width && b->width && a->prefix == b->prefix &&
           !memcmp(a->name, b->name, a->prefix) &&
           !strcmp(a->suffix, b->suffix);
}

/* Returns true if a range from `low` to `at` can be extended to `next`. That
 * needs the next number, with as many digits as expansion would write, which
 * pads numbers to the width of `low`. */
static bool hostlist_continues(const struct parts *low, const struct parts *at,
                               const struct parts *next)
{
    char digits[32];
    int width = snprintf(digits, sizeof digits, "%0*llu", (int)low->width,
                         (unsigned long long)next->number);

    return next->number == at->number + 1 && (size_t)width == next->width;
}

/* Writes names[0] and the names that continue its range as one item of a
 * bracket, such as "7" or "001-128". Returns the number of names that the item
 * covers. */
static size_t write_range(struct nw_text *text, const char *const *names,
                          size_t count)
{
    struct parts low = hostlist_cut(names[0]), at = low;
    size_t covered = 1;

    while (covered < count) {
        struct parts next = hostlist_cut(names[covered]);

        if (!hostlist_continues(&low, &at, &next))
            break;
        at = next;
        covered++;
    }
    nw_text_add_bytes(text, low.name + low.prefix, low.width);
    if (covered > 1) {
        nw_text_add(text, covered > 2 ? "-" : ",");
        nw_text_add_bytes(text, at.name + at.prefix, at.width);
    }
    return covered;
}

static void write_bracket(struct nw_text *text, const char *const *names,
                          size_t count)
{
    struct parts first = hostlist_cut(names[0]);

    if (count == 1) {
        nw_text_add(text, names[0]);
        return;
    }
    nw_text_add_bytes(text, first.name, first.prefix);
    for (size_t i = 0; i < count;) {
        nw_text_add(text, i ? "," : "[");
        i += write_range(text, names + i, count - i);
    }
    nw_text_add(text, "]");
    nw_text_add(text, first.suffix);
}

nw_status nw_hostlist_compress(const char *const *names, size_t count,
                               char **out)
{
    struct nw_text text = {0};
    size_t length;

    nw_text_add(&text, "");
    for (size_t i = 0; i < count; i += length) {
        struct parts first = hostlist_cut(names[i]), next;

        for (length = 1; i + length < count; length++) {
            next = hostlist_cut(names[i + length]);
            if (!same_bracket(&first, &next))
                break;
        }
        if (i)
            nw_text_add(&text, ",");
        write_bracket(&text, names + i, length);
    }
    return nw_text_take(&text, out);
}

/* Returns the number of letters at the start of the text that a name may
 * have. */
static size_t hostlist_count_letters(const char *text)
{
    size_t count = 0;

    while ((unsigned char)text[count] > ' ' && text[count] != 127 &&
           !strchr("[],#&*\"'\\{}", text[count]))
        count++;
    return count;
}

bool nw_host_is_listable(const char *name)
{
    size_t length = strlen(name);

    return length && length <= NW_HOSTNAME_MAX &&
           hostlist_count_letters(name) == length;
}

nw_status nw_host_name_after(const char *file, char **out)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    size_t letters = hostlist_count_letters(name), length = strcspn(name, ".");
    nw_status status;

    length = length < letters ? length : letters;
    status = nw_strdup(length ? name : "machine", out);
    if (!status && length)
        (*out)[length] = '\0';
    return status;
}

bool nw_host_is_plain(const char *name)
{
    static const char plain[] = "-._0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz";

    return *name && !strchr("-._", *name) && !name[strspn(name, plain)];
}

nw_status nw_host_check(const char *name)
{
    if (nw_host_is_plain(name))
        return NW_OK;
    return nw_fail(NW_EINVAL,
                   "a launcher could misread host '%s': host names are "
                   "letters, digits, '.', '_' and '-', and begin with a letter "
                   "or digit",
                   name);
}

bool nw_host_is_same(const char *a, const char *b)
{
    size_t x = strcspn(a, "."), y = strcspn(b, ".");

    if (a[x] && b[y])
        return !strcmp(a, b);
    return x == y && !strncmp(a, b, x);
}
