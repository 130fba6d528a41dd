/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.conf: lines of Key=Value words. SwitchName= makes a tree, BlockName=
 * and BlockSizes= make blocks; keys in any case. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SIZES 16

struct conf {
    struct nw_slurm *slurm;
    struct nw_lines lines;
    bool trees, blocks;
    int32_t size[MAX_SIZES];
    size_t size_count;
};

/* What one line says; NULL where it does not. */
struct words {
    const char *name, *block, *below, *nodes, *sizes;
};

/* Cuts the next Key = Value off *rest: blanks may stand around the sign, and
 * quotes around the value. *key is NULL at the end. */
static nw_status cut_pair(const struct conf *conf, char **rest, char **key,
                          char **value)
{
    char *at = *rest + strspn(*rest, " \t\r"), *sign, *end;

    *key = *at ? at : NULL;
    if (!*at)
        return NW_OK;
    end = at + strcspn(at, "= \t\r");
    sign = end + strspn(end, " \t\r");
    at = sign + (*sign == '=');
    at += strspn(at, " \t\r");
    if (*sign != '=' || !*at || end == *key) {
        *end = '\0';
        return nw_lines_fail(&conf->lines, "expected Key=Value, not '%s'",
                             *key);
    }
    *end = '\0';
    *value = at + (*at == '"');
    end = *value + strcspn(*value, *at == '"' ? "\"" : " \t\r");
    if (end == *value || (*at == '"' && !*end))
        return nw_lines_fail(&conf->lines, "%s has no value", *key);
    *rest = end + (*end != '\0');
    *end = '\0';
    return NW_OK;
}

static nw_status check_speed(const struct conf *conf, const char *value)
{
    uint64_t speed;

    if (nw_parse_u64(value, &speed) && speed <= UINT32_MAX)
        return NW_OK;
    return nw_lines_fail(&conf->lines, "LinkSpeed is a number, not '%s'",
                         value);
}

static nw_status take_pair(const struct conf *conf, const char *key,
                           const char *value, struct words *words)
{
    const struct {
        const char *key;
        const char **value;
    } keys[] = {{"SwitchName", &words->name},
                {"BlockName", &words->block},
                {"Switches", &words->below},
                {"Nodes", &words->nodes},
                {"BlockSizes", &words->sizes}};

    if (!strcasecmp(key, "LinkSpeed")) /* Slurm itself does not use it */
        return check_speed(conf, value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcasecmp(key, keys[i].key)) {
            if (*keys[i].value)
                return nw_lines_fail(&conf->lines, "%s is given twice",
                                     keys[i].key);
            *keys[i].value = value;
            return NW_OK;
        }
    return nw_lines_fail(&conf->lines, "unknown key '%s'", key);
}

static nw_status place(const struct conf *conf, nw_status status)
{
    char what[512];

    if (status != NW_EFORMAT)
        return status;
    snprintf(what, sizeof what, "%s", nw_error_text());
    return nw_lines_fail(&conf->lines, "%s", what);
}

static nw_status take_sizes(struct conf *conf, const char *text)
{
    char *copy, *at, *word;
    nw_status status = nw_strdup(text, &copy);

    at = copy;
    while (!status && (word = strsep(&at, ","))) {
        int32_t size;

        if (conf->size_count == MAX_SIZES || !nw_parse_i32(word, &size) ||
            size < 1)
            status = nw_lines_fail(&conf->lines,
                                   "BlockSizes are up to %d numbers from 1",
                                   MAX_SIZES);
        else
            conf->size[conf->size_count++] = size;
    }
    free(copy);
    return status;
}

static nw_status take_switch(struct conf *conf, const struct words *words)
{
    struct nw_slurm *slurm = conf->slurm;
    char *name;
    nw_status status =
        nw_strdup(words->name ? words->name : words->block, &name);

    if (status)
        return status;
    if (!nw_fabric_is_name(name)) {
        status =
            nw_lines_fail(&conf->lines, "'%s' is no name of a switch", name);
        free(name);
        return status;
    }
    status = nw_slurm_add(slurm, name, conf->lines.line);
    if (!status && words->below)
        status =
            place(conf, nw_hostlist_expand(words->below,
                                           &slurm->at[slurm->count - 1].below));
    if (!status && words->nodes)
        status =
            place(conf, nw_hostlist_expand(words->nodes,
                                           &slurm->at[slurm->count - 1].nodes));
    return status;
}

static nw_status take_line(struct conf *conf, char *line)
{
    struct words words = {0};
    nw_status status = NW_OK;
    char *key = NULL, *value = NULL;

    do {
        status = cut_pair(conf, &line, &key, &value);
        if (!status && key)
            status = take_pair(conf, key, value, &words);
    } while (!status && key);
    if (status)
        return status;
    if (words.sizes)
        return take_sizes(conf, words.sizes);
    if (!words.name == !words.block)
        return nw_lines_fail(&conf->lines,
                             "a line names one switch or one block");
    if (words.name && words.below && words.nodes)
        return nw_lines_fail(&conf->lines,
                             "switch '%s' has both Switches= and Nodes=, "
                             "which Slurm refuses",
                             words.name);
    if (words.block && words.below)
        return nw_lines_fail(&conf->lines, "a block has nodes, no switches");
    conf->trees |= !!words.name;
    conf->blocks |= !!words.block;
    if (conf->trees && conf->blocks)
        return nw_lines_fail(&conf->lines, "switches and blocks in one file");
    return take_switch(conf, &words);
}

/* A backslash at the end of a line joins the next one to it, without a blank
 * between; a comment ends with its own line. The line's ends come after what
 * was joined, so that those behind keep their numbers. */
static void join_lines(char *text)
{
    char *to = text;
    size_t joined = 0;

    for (const char *from = text; *from;) {
        size_t kept = strcspn(from, "#\n");
        bool goes_on;

        while (kept && strchr(" \t\r", from[kept - 1]))
            kept--;
        goes_on = kept && from[kept - 1] == '\\';
        memmove(to, from, kept - goes_on);
        to += kept - goes_on;
        from += strcspn(from, "\n");
        joined += *from == '\n';
        from += *from == '\n';
        for (; joined && !goes_on; joined--)
            *to++ = '\n';
    }
    *to = '\0';
}

nw_status nw_slurm_conf(struct nw_slurm *slurm, char *text,
                        enum nw_elements elements)
{
    struct conf conf = {.slurm = slurm};
    nw_status status = NW_OK;
    char *line;

    join_lines(text);
    nw_lines_init(&conf.lines, slurm->file, text);
    while (!status && (line = nw_lines_next(&conf.lines)))
        status = take_line(&conf, line);
    if (!status && conf.blocks)
        status = nw_slurm_group(slurm, conf.size, conf.size_count);
    return status ? status : nw_slurm_build(slurm, elements);
}
