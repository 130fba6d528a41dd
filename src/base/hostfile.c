/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses hosts in all forms in which users and launchers write them. */
#include "base/hostfile.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t nw_hostfile_slots_sum(int32_t one, int32_t other)
{
    one = one ? one : 1;
    other = other ? other : 1;
    return one > INT32_MAX - 1 - other ? INT32_MAX - 1 : one + other;
}

/* Stores a number of slots of `host` in *slots, which must be 0 before, since
 * slots may be given only once. */
static nw_status hostfile_parse_slots(const char *host, const char *word,
                                      int32_t *slots)
{
    int32_t before = *slots;

    if (!nw_parse_i32(word, slots) || *slots < 1)
        return nw_fail(NW_EFORMAT,
                       "host '%s': slots are a number from 1, not '%s'", host,
                       word);
    if (before)
        return nw_fail(NW_EFORMAT, "host '%s': two numbers of slots: %d and %s",
                       host, before, word);
    *slots -= *slots == INT32_MAX; /* because INT32_MAX stands for "not
                                      given" */
    return NW_OK;
}

/* Returns true for an IPv6 address such as "fe80::1", "[fe80::1]:8" or
 * "fe80::1%eth0". */
static bool hostfile_is_ipv6(const char *name)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr bytes;

    name += *name == '[';
    snprintf(address, sizeof address, "%.*s", (int)strcspn(name, "]%"), name);
    return inet_pton(AF_INET6, address, &bytes) == 1;
}

/* Calls add() for each host of "names" or "names:slots". `slots` is the number
 * that other words of the line give, or 0. */
static nw_status hostfile_add_names(char *names, int32_t slots,
                                    nw_host_adder *add, void *user)
{
    char *colon;
    struct nw_hostlist list = {0};
    nw_status status = NW_OK;

    if (hostfile_is_ipv6(names))
        return nw_fail(NW_EFORMAT,
                       "'%s' is an IPv6 address; launchers take names of hosts",
                       names);
    colon = strrchr(names, ':');
    if (colon) {
        *colon = '\0';
        status = hostfile_parse_slots(names, colon + 1, &slots);
    }
    if (!status)
        status = nw_hostlist_expand(names, &list);
    for (size_t i = 0; !status && i < list.count; i++)
        status = add(user, list.name[i], slots);
    nw_hostlist_fini(&list);
    return status;
}

/* Returns the end of a list item: the next comma outside brackets. */
static char *hostfile_item_end(char *item)
{
    int depth = 0;

    for (; *item && (depth > 0 || *item != ','); item++)
        depth += (*item == '[') - (*item == ']');
    return item;
}

nw_status nw_hostfile_list(const char *list, nw_host_adder *add, void *user)
{
    char *words, *item;
    nw_status status = nw_strdup(list, &words);

    if (status)
        return status;
    for (item = words; !status && *item;) {
        char *end = hostfile_item_end(item);
        bool more = *end;

        *end = '\0';
        status = hostfile_add_names(item, 0, add, user);
        item = end + more;
    }
    free(words);
    return status;
}

/* Removes blanks around "=": "slots = 8" becomes "slots=8". */
static void hostfile_close_signs(char *line)
{
    char *to = line;

    while (*line) {
        size_t blanks = strspn(line, " \t");

        line += blanks && line[blanks] == '=' ? blanks : 0;
        *to++ = *line++;
        if (to[-1] == '=')
            line += strspn(line, " \t");
    }
    *to = '\0';
}

/* Returns the value of a word "NAME=value" if NAME is one of `count` names,
 * else NULL. */
static const char *hostfile_value_of(const char *word, const char *const *name,
                                     size_t count)
{
    const char *sign = strchr(word, '=');

    for (size_t i = 0; sign && i < count; i++)
        if (strlen(name[i]) == (size_t)(sign - word) &&
            !strncmp(word, name[i], strlen(name[i])))
            return sign + 1;
    return NULL;
}

/* Reads the words after the host's name: the number of slots, and words that
 * have another meaning for a launcher, which are ignored. */
static nw_status hostfile_read_slots(const char *host, char *words,
                                     int32_t *slots)
{
    static const char *const ours[] = {"slots", "cpu", "count"};
    static const char *const others[] = {
        "max_slots", "max-slots", "slots_max", "slots-max", "max_cpu",
        "max-cpu",   "cpu_max",   "cpu-max",   "max_count", "max-count",
        "count_max", "count-max", "username",  "user-name", "user_name",
        "user",      "ifhn",      "binding"};
    char *word;
    nw_status status = NW_OK;

    hostfile_close_signs(words);
    while (!status && (word = nw_word_next(&words))) {
        const char *value =
            hostfile_value_of(word, ours, sizeof ours / sizeof *ours);

        if (value)
            status = hostfile_parse_slots(host, value, slots);
        else if (!hostfile_value_of(word, others,
                                    sizeof others / sizeof *others))
            status = nw_fail(NW_EFORMAT, "expected slots=N, not '%s'", word);
    }
    return status;
}

nw_status nw_hostfile_line(char *line, nw_host_adder *add, void *user)
{
    char *rest = line, *names = nw_word_next(&rest), *at = strchr(names, '@');
    int32_t slots = 0;
    nw_status status = rest ? hostfile_read_slots(names, rest, &slots) : NW_OK;

    names = at ? at + 1 : names; /* "user@host", as Open MPI reads it */
    return status ? status : hostfile_add_names(names, slots, add, user);
}

nw_status nw_hostfile_read(const char *path, nw_host_taker *take, void *user,
                           const size_t *count)
{
    struct nw_lines lines;
    size_t length;
    char *data, *line;
    nw_status status = nw_file_read_text(path, &data, &length);

    if (status)
        return status;
    nw_lines_init(&lines, path, data);
    while (!status && (line = nw_lines_next(&lines))) {
        nw_status took = take(user, line);

        status = took;
        if (took == NW_EFORMAT || took == NW_EINVAL)
            status = nw_lines_fail(&lines, "%s", nw_error_text());
        if (took == NW_EINVAL)
            status = took;
    }
    free(data);
    if (!status && !*count)
        status = nw_fail(NW_EFORMAT, "%s:1: no host in the file", path);
    return status;
}
