/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads topology.conf, lines of Key=Value words: SwitchName= describes a tree,
 * BlockName= and BlockSizes= describe blocks, RingName= describes rings. Keys
 * may be in upper or lower case. The output of scontrol show topology has the
 * same form with some more keys. */
#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/slurm/slurm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SIZES 16
#define MAX_INCLUDE_DEPTH 16
#define MAX_INCLUDES 1000

/* A file that is being read, and the one that includes it. */
struct opened {
    const struct opened *outer;
    dev_t device;
    ino_t number;
};

/* The state of the reader. */
struct conf {
    struct nw_slurm *slurm;
    const char *top;           /* path of the file that the user gave */
    const struct opened *open; /* the file that is being read */
    struct nw_lines lines;
    bool trees, blocks;
    struct nw_yaml *rings; /* tree of the rings in the form of topology.yaml,
                              or NULL */
    int32_t size[MAX_SIZES];
    size_t size_count;
    /* different values of BlockSize in scontrol's output */
    int32_t seen[MAX_SIZES];
    size_t seen_count;
};

/* The values of one line; NULL if missing. */
struct topology_conf_words {
    const char *name, *block, *ring, *below, *nodes, *sizes;
    /* keys that only scontrol writes */
    const char *level, *index, *size, *aggregate, *ring_size;
};

/* Returns the word for a message, or "..." in an included file: a user who can
 * write an Include line may not be allowed to read that file. */
static const char *topology_conf_quoted(const struct conf *conf,
                                        const char *word)
{
    return conf->open && conf->open->outer ? "..." : word;
}

/* Reads the next pair Key=Value of *rest and moves *rest past it. Blanks are
 * allowed around the '=', and quotes around the value. *key is NULL if no pair
 * is left. */
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
                             topology_conf_quoted(conf, *key));
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
                           const char *value, struct topology_conf_words *words)
{
    const struct {
        const char *key;
        const char **value;
    } keys[] = {
        {"SwitchName", &words->name},   {"BlockName", &words->block},
        {"RingName", &words->ring},     {"Switches", &words->below},
        {"Nodes", &words->nodes},       {"BlockSizes", &words->sizes},
        {"Level", &words->level},       {"BlockIndex", &words->index},
        {"BlockSize", &words->size},    {"AggregatedBlock", &words->aggregate},
        {"RingSize", &words->ring_size}};

    if (!strcasecmp(key, "LinkSpeed")) /* Slurm does not use LinkSpeed */
        return check_speed(conf, value);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcasecmp(key, keys[i].key)) {
            if (*keys[i].value)
                return nw_lines_fail(&conf->lines, "%s is given twice",
                                     keys[i].key);
            *keys[i].value = value;
            return NW_OK;
        }
    return nw_lines_fail(&conf->lines,
                         "unknown key '%s'; Slurm's topology.conf or the "
                         "output of 'scontrol show topology' is read here",
                         topology_conf_quoted(conf, key));
}

static nw_status topology_conf_place(const struct conf *conf, nw_status status)
{
    return status == NW_EFORMAT
               ? nw_lines_fail(&conf->lines, "%s", nw_error_text())
               : status;
}

static nw_status take_sizes(struct conf *conf, const char *text)
{
    char *copy = NULL, *at, *word;
    nw_status status;

    if (conf->size_count)
        return nw_lines_fail(&conf->lines, "BlockSizes is given twice");
    status = nw_strdup(text, &copy);
    at = copy;
    while (!status && (word = strsep(&at, ","))) {
        int32_t size;

        if (conf->size_count == MAX_SIZES || !nw_parse_i32(word, &size) ||
            size < 1)
            status = nw_lines_fail(&conf->lines,
                                   "BlockSizes are up to %d numbers from 1",
                                   MAX_SIZES);
        else if (!nw_slurm_size_fits(conf->size, conf->size_count, size))
            status = nw_lines_fail(&conf->lines,
                                   "BlockSizes: %d must be a multiple of %d",
                                   size, conf->size[conf->size_count - 1]);
        else
            conf->size[conf->size_count++] = size;
    }
    free(copy);
    return status;
}

/* Records a BlockSize in scontrol's output if it is a larger multiple of the
 * last one recorded. scontrol does not write BlockSizes, but the size of each
 * block and of each larger block. */
static nw_status take_seen_size(struct conf *conf, const char *text)
{
    int32_t size;

    if (!nw_parse_i32(text, &size) || size < 1)
        return nw_lines_fail(&conf->lines,
                             "BlockSize is a number from 1, not '%s'", text);
    if (conf->seen_count < MAX_SIZES &&
        nw_slurm_size_fits(conf->seen, conf->seen_count, size))
        conf->seen[conf->seen_count++] = size;
    return NW_OK;
}

static nw_status take_switch(struct conf *conf,
                             const struct topology_conf_words *words)
{
    struct nw_slurm *slurm = conf->slurm;
    char *name;
    nw_status status =
        nw_strdup(words->name ? words->name : words->block, &name);

    if (status)
        return status;
    if (!nw_host_is_listable(name)) {
        status = nw_lines_fail(&conf->lines,
                               "'%s' is not a valid name of a switch", name);
        free(name);
        return status;
    }
    status = nw_slurm_add(slurm, name, conf->lines.line);
    if (!status && words->below)
        status = topology_conf_place(
            conf, nw_hostlist_expand(words->below,
                                     &slurm->at[slurm->count - 1].below));
    if (!status && words->nodes)
        status = topology_conf_place(
            conf, nw_hostlist_expand(words->nodes,
                                     &slurm->at[slurm->count - 1].nodes));
    return status;
}

/* Adds a child to `parent`, or makes a root if `parent` is NULL. The child is a
 * scalar if `text` is given, otherwise a map. */
static nw_status add_yaml(const struct conf *conf, struct nw_yaml *parent,
                          const char *key, const char *text,
                          struct nw_yaml **out)
{
    struct nw_yaml *node;
    nw_status status = nw_alloc(1, sizeof *node, &node);

    if (status)
        return status;
    *node = (struct nw_yaml){.kind = text ? NW_YAML_SCALAR : NW_YAML_MAP,
                             .line = conf->lines.line,
                             .file = conf->slurm->file};
    *out = node;
    if (parent) {
        *(parent->last ? &parent->last->next : &parent->first) = node;
        parent->last = node;
        parent->count++;
    }
    status = key ? nw_strdup(key, &node->key) : NW_OK;
    return status || !text ? status : nw_strdup(text, &node->text);
}

static nw_status take_ring(struct conf *conf,
                           const struct topology_conf_words *words)
{
    struct nw_yaml *ring, *list, *nodes;
    nw_status status = NW_OK;

    if (words->name || words->block || words->sizes || words->below ||
        !words->nodes)
        return nw_lines_fail(&conf->lines, "a ring has a RingName and Nodes");
    if (!conf->rings) {
        status = add_yaml(conf, NULL, "ring", NULL, &conf->rings);
        if (!status)
            status = add_yaml(conf, conf->rings, "rings", NULL, &list);
        if (!status)
            list->kind = NW_YAML_LIST;
    }
    if (!status)
        status = add_yaml(conf, conf->rings->first, NULL, NULL, &ring);
    if (!status)
        status = add_yaml(conf, ring, "nodes", words->nodes, &nodes);
    return status;
}

static nw_status topology_conf_read_lines(struct conf *conf, char *text);

/* Sets *out to the path of an included file, relative to the folder of the file
 * that the user gave, as Slurm does. conf->slurm owns the path. */
static nw_status included_path(struct conf *conf, const char *name,
                               const char **out)
{
    struct nw_hostlist *kept = &conf->slurm->included;
    const char *slash = *name == '/' ? NULL : strrchr(conf->top, '/');
    char *path;
    nw_status status = nw_grow(&kept->name, &kept->capacity, kept->count + 1,
                               sizeof *kept->name);

    if (status)
        return status;
    if (asprintf(&path, "%.*s%s", slash ? (int)(slash + 1 - conf->top) : 0,
                 conf->top, name) < 0)
        return nw_fail(NW_ENOMEM, "out of memory for the name of a file");
    kept->name[kept->count++] = path;
    *out = path;
    return NW_OK;
}

static nw_status open_included(const struct conf *conf, const char *path,
                               struct opened *opened, char **text)
{
    struct stat about;
    size_t length;
    int depth = 0;

    if (stat(path, &about) || access(path, R_OK))
        return nw_lines_fail(&conf->lines, "Include %s: %s", path,
                             strerror(errno));
    if (S_ISDIR(about.st_mode))
        return nw_lines_fail(&conf->lines, "Include %s: is a directory", path);
    if (!S_ISREG(about.st_mode))
        return nw_lines_fail(&conf->lines, "Include %s: not a regular file",
                             path);
    *opened = (struct opened){conf->open, about.st_dev, about.st_ino};
    for (const struct opened *o = conf->open; o; o = o->outer, depth++)
        if (o->device == opened->device && o->number == opened->number)
            return nw_lines_fail(&conf->lines, "%s includes itself", path);
    if (depth > MAX_INCLUDE_DEPTH || conf->slurm->included.count > MAX_INCLUDES)
        return nw_lines_fail(&conf->lines,
                             "more than %d levels of Include, or %d files",
                             MAX_INCLUDE_DEPTH, MAX_INCLUDES);
    if (nw_file_read_text(path, text, &length))
        return nw_lines_fail(&conf->lines, "Include %s", nw_error_text());
    return NW_OK;
}

static nw_status topology_conf_include(struct conf *conf, char *name)
{
    struct nw_lines lines = conf->lines;
    struct opened opened = {0};
    const char *path = NULL;
    char *text = NULL, *rest = name;
    nw_status status;

    name = nw_word_next(&rest);
    if (!name || nw_word_next(&rest))
        return nw_lines_fail(&conf->lines, "Include names one file");
    status = included_path(conf, name, &path);
    if (!status)
        status = open_included(conf, path, &opened, &text);
    if (!status) {
        conf->open = &opened;
        conf->slurm->file = path;
        status = topology_conf_read_lines(conf, text);
        conf->slurm->file = lines.file;
        conf->open = opened.outer;
        conf->lines = lines;
    }
    free(text);
    return status;
}

static bool is_include(const char *line)
{
    return !strncasecmp(line, "Include", 7) && strchr(" \t", line[7]);
}

static nw_status topology_conf_take_line(struct conf *conf, char *line)
{
    struct topology_conf_words words = {0};
    nw_status status = NW_OK;
    char *key = NULL, *value = NULL;

    do {
        status = cut_pair(conf, &line, &key, &value);
        if (!status && key)
            status = take_pair(conf, key, value, &words);
    } while (!status && key);
    if (status)
        return status;
    if (words.sizes && (words.name || words.block))
        return nw_lines_fail(&conf->lines,
                             "BlockSizes stands on a line of its own");
    if (words.size)
        status = take_seen_size(conf, words.size);
    if (status || (words.aggregate && !words.name && !words.block))
        return status;
    if (words.ring)
        return take_ring(conf, &words);
    if (!words.sizes && !words.name == !words.block)
        return nw_lines_fail(&conf->lines,
                             "a line names one switch or one block");
    if (words.level && words.below) /* scontrol lists all nodes below a
                                       switch with switches */
        words.nodes = NULL;
    if (words.name && words.below && words.nodes)
        return nw_lines_fail(&conf->lines,
                             "switch '%s' has both Switches= and Nodes=, "
                             "which Slurm refuses",
                             words.name);
    if (words.block && words.below)
        return nw_lines_fail(&conf->lines, "a block has nodes, no switches");
    conf->trees |= !!words.name;
    conf->blocks |= words.block || words.sizes;
    if (conf->trees && conf->blocks)
        return nw_lines_fail(&conf->lines, "switches and blocks in one file");
    return words.sizes ? take_sizes(conf, words.sizes)
                       : take_switch(conf, &words);
}

/* Joins a line that ends with a backslash and the next line, without a blank
 * between them. A comment ends with its line. The newlines are moved to the end
 * of the joined line, so that the lines after it keep their numbers. */
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

static nw_status topology_conf_read_lines(struct conf *conf, char *text)
{
    nw_status status = NW_OK;
    char *line;

    join_lines(text);
    nw_lines_init(&conf->lines, conf->slurm->file, text);
    while (!status && (line = nw_lines_next(&conf->lines)))
        status = is_include(line) ? topology_conf_include(conf, line + 7)
                                  : topology_conf_take_line(conf, line);
    return status;
}

nw_status nw_slurm_conf(struct nw_slurm *slurm, char *text,
                        enum nw_elements elements)
{
    struct stat about = {0};
    struct opened opened = {0};
    struct conf conf = {.slurm = slurm, .top = slurm->file, .open = &opened};
    nw_status status;

    if (!stat(slurm->file, &about))
        opened = (struct opened){NULL, about.st_dev, about.st_ino};
    status = topology_conf_read_lines(&conf, text);
    if (!status && conf.blocks)
        status = conf.size_count
                     ? nw_slurm_group(slurm, conf.size, conf.size_count)
                     : nw_slurm_group(slurm, conf.seen, conf.seen_count);
    if (!status && conf.rings && slurm->count)
        status = nw_yaml_fail(conf.rings, "rings and switches in one file");
    if (!status)
        status = conf.rings ? nw_slurm_ring(slurm, conf.rings, elements)
                            : nw_slurm_build(slurm, elements);
    nw_yaml_free(conf.rings);
    return status;
}
