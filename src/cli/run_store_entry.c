/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the entries of the store. An entry is a text file that describes a
 * stored pattern. */
#include "cli/run_store_entry.h"

#include <nodewise/report.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Hexadecimal digits in the name of a file of the store, before its suffix. */
#define NAME_DIGITS 32

/* A stored pattern and its entry. */
struct cli_run_known {
    char *path;                 /* path of the pattern */
    char *text;                 /* text of the entry; the following strings
                                   point into it */
    char *program;              /* program with its arguments */
    const char *sum, *identity; /* checksum of the pattern's file, identity
                                   of the program (see run_store.h); "" if
                                   the entry has none */
    int32_t ranks;
    struct timespec when; /* when the pattern was stored */
};

struct knowns {
    struct cli_run_known *one;
    size_t count, capacity;
};

static void free_one(struct cli_run_known *one)
{
    free(one->path);
    free(one->text);
}

static void free_all(struct knowns *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_one(&all->one[i]);
    free(all->one);
}

/* Returns true for the name of a file of the store with this suffix. */
static bool has_form(const char *name, const char *suffix)
{
    return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
           !strcmp(name + NAME_DIGITS, suffix);
}

/* Parses the entry in one->text, which has lines "key: value". "program" is the
 * last key. */
static void run_known_read_entry(struct cli_run_known *one)
{
    one->program = one->text + strlen(one->text);
    one->sum = one->identity = one->program;
    for (char *line = one->text, *end; *line; line = end) {
        char *value = strchr(line, ':');

        end = line + strcspn(line, "\n");
        if (value && !strncmp(line, "program", 7))
            end = line + strlen(line) - 1; /* an argument may contain line
                                              ends */
        if (*end)
            *end++ = '\0';
        if (!value || value > end)
            continue;
        *value = '\0';
        value += value[1] == ' ' ? 2 : 1;
        if (!strcmp(line, "ranks") && !nw_parse_i32(value, &one->ranks))
            one->ranks = 0;
        else if (!strcmp(line, "pattern"))
            one->sum = value;
        else if (!strcmp(line, "identity"))
            one->identity = value;
        else if (!strcmp(line, "program"))
            one->program = value;
    }
    nw_text_hide_controls(one->program);
}

static nw_status run_known_join(const char *folder, const char *name,
                                size_t length, const char *suffix, char **out)
{
    struct nw_text text = {0};

    nw_text_format(&text, "%s/%.*s%s", folder, (int)length, name, suffix);
    return nw_text_take(&text, out);
}

/* Reads the entry `name` and adds it to the list, unless the entry is invalid
 * or its pattern is missing. */
static nw_status add_one(struct knowns *all, const char *folder,
                         const char *name)
{
    struct cli_run_known one = {0};
    struct stat info;
    char *entry = NULL;
    size_t length;
    nw_status status =
        run_known_join(folder, name, NAME_DIGITS, ".pattern", &one.path);

    if (!status)
        status = run_known_join(folder, name, NAME_DIGITS, ".entry", &entry);
    if (!status && !stat(one.path, &info) &&
        !nw_file_read(entry, &one.text, &length)) {
        one.when = info.st_mtim;
        run_known_read_entry(&one);
        status = nw_grow(&all->one, &all->capacity, all->count + 1, sizeof one);
    }
    free(entry);
    if (status || !one.text || one.ranks < 1)
        free_one(&one);
    else
        all->one[all->count++] = one;
    return status;
}

static int compare_newest(const void *a, const void *b)
{
    const struct cli_run_known *one = a, *other = b;

    if (one->when.tv_sec != other->when.tv_sec)
        return one->when.tv_sec > other->when.tv_sec ? -1 : 1;
    if (one->when.tv_nsec != other->when.tv_nsec)
        return one->when.tv_nsec > other->when.tv_nsec ? -1 : 1;
    return strcmp(one->path, other->path);
}

/* Reads all entries and sorts them, newest first. A missing store has no
 * entries. */
static nw_status run_known_read_all(const char *folder, struct knowns *all)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    nw_status status = NW_OK;

    if (!open && errno != ENOENT)
        return nw_fail(NW_EIO, "%s: %s", folder, strerror(errno));
    while (open && !status && (entry = readdir(open)))
        if (has_form(entry->d_name, ".entry"))
            status = add_one(all, folder, entry->d_name);
    if (open)
        closedir(open);
    if (all->count)
        qsort(all->one, all->count, sizeof *all->one, compare_newest);
    return status;
}

/* --- a pattern of another input --- */

static nw_status run_known_read_pattern(const struct cli_run_known *one,
                                        nw_pattern **out)
{
    struct nw_text input = {0};
    char *name = NULL, sum[33];
    nw_status status;

    if (!nw_store_hash(one->path, sum) || strcmp(sum, one->sum) != 0)
        return nw_fail(NW_EFORMAT, "%s: damaged", one->path);
    nw_text_format(&input, "native:%s", one->path);
    status = nw_text_take(&input, &name);
    if (!status)
        status = nw_pattern_read(name, NULL, out);
    free(name);
    return status;
}

/* Replaces the pattern by one that is scaled to `ranks` ranks. */
static nw_status run_known_scale(nw_pattern **pattern, int32_t ranks,
                                 char **found)
{
    nw_pattern *scaled = NULL;
    nw_status status = nw_pattern_scale(*pattern, ranks, &scaled, found);

    nw_pattern_free(*pattern);
    *pattern = scaled;
    return status;
}

/* Reads a stored pattern and scales it to `ranks` ranks. *out stays NULL if it
 * cannot be read or scaled; otherwise *how says what was done. */
static nw_status take_one(const struct cli_run_known *one, int32_t ranks,
                          nw_pattern **out, char **how)
{
    struct nw_text text = {0};
    char *found = NULL;

    if (run_known_read_pattern(one, out))
        return NW_OK;
    if (one->ranks != ranks && run_known_scale(out, ranks, &found))
        return NW_OK;
    nw_text_format(&text, "the pattern of '%s'", one->program);
    if (found)
        nw_text_format(&text, " on %d rank%s, scaled to %d: %s", one->ranks,
                       nw_plural((uint64_t)one->ranks), ranks, found);
    free(found);
    return nw_text_take(&text, how);
}

nw_status nw_known_find(const struct nw_store *store, const struct nw_job *job,
                        nw_pattern **out, char **how)
{
    struct knowns all = {0};
    nw_status status = NW_OK;

    *out = NULL;
    *how = NULL;
    if (!store->identity[0])
        return NW_OK;
    status = run_known_read_all(store->folder, &all);
    for (int other = 0; other < 2; other++)
        for (size_t i = 0; !status && !*out && i < all.count; i++)
            if (!strcmp(all.one[i].identity, store->identity) &&
                (all.one[i].ranks != job->ranks) == other)
                status = take_one(&all.one[i], job->ranks, out, how);
    free_all(&all);
    return status;
}

/* --- printing and removing --- */

static void put_row(nw_table *table, const struct cli_run_known *one)
{
    char when[32] = "";
    struct tm parts;

    if (localtime_r(&one->when.tv_sec, &parts))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
    nw_table_row(table, -1);
    nw_table_cell(table, "%d", one->ranks);
    nw_table_cell(table, "%s", when);
    nw_table_cell(table, "%s", one->program);
    nw_table_cell(table, "%s", one->path);
}

static nw_status show_table(const struct knowns *all, const char *folder,
                            struct nw_text *text)
{
    nw_table *table;
    nw_status status;

    if (!all->count) {
        nw_text_format(text, "no patterns in %s\n", folder);
        return NW_OK;
    }
    status = nw_table_new(&table);
    if (status)
        return status;
    nw_table_column(table, "RANKS", NW_ALIGN_RIGHT);
    nw_table_column(table, "PROFILED", NW_ALIGN_LEFT);
    nw_table_column(table, "PROGRAM", NW_ALIGN_LEFT);
    nw_table_column(table, "PATTERN", NW_ALIGN_LEFT);
    for (size_t i = 0; i < all->count; i++)
        put_row(table, &all->one[i]);
    return nw_cli_add_table(table, text);
}

static void show_json(const struct knowns *all, struct nw_text *text)
{
    struct nw_json json = {.text = text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.run-list/1");
    nw_json_array(&json, "patterns");
    for (size_t i = 0; i < all->count; i++) {
        nw_json_object(&json, NULL);
        nw_json_integer(&json, "ranks", all->one[i].ranks);
        nw_json_integer(&json, "time", all->one[i].when.tv_sec);
        nw_json_string(&json, "program", all->one[i].program);
        nw_json_string(&json, "pattern", all->one[i].path);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    nw_json_end_object(&json);
}

nw_status nw_known_show(const char *folder, bool as_json, const char *output)
{
    struct knowns all = {0};
    struct nw_text text = {0};
    char *path = NULL;
    nw_status status = nw_store_folder(folder, &path);

    if (!status)
        status = run_known_read_all(path, &all);
    if (!status && as_json)
        show_json(&all, &text);
    else if (!status)
        status = show_table(&all, path, &text);
    if (!status)
        status = nw_file_write_text(output ? output : "-", &text);
    nw_text_fini(&text);
    free_all(&all);
    free(path);
    return status;
}

/* Returns true if the first word of the entry's command line is `program`. */
static bool is_program(const struct cli_run_known *one, const char *program)
{
    size_t length = strlen(program);

    return !strncmp(one->program, program, length) &&
           (!one->program[length] || one->program[length] == ' ');
}

/* Removes a file and adds 1 to *count. Does nothing if the file is missing, for
 * example because another process removed it. */
static nw_status remove_file(const char *path, size_t *count)
{
    if (!unlink(path))
        ++*count;
    else if (errno != ENOENT)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    return NW_OK;
}

static nw_status forget_program(const char *folder, const char *program,
                                size_t *count)
{
    struct knowns all = {0};
    nw_status status = run_known_read_all(folder, &all);
    size_t entries = 0;

    for (size_t i = 0; !status && i < all.count; i++) {
        char *path = all.one[i].path;

        if (!is_program(&all.one[i], program))
            continue;
        status = remove_file(path, count);
        strcpy(strrchr(path, '.'), ".entry");
        if (!status)
            status = remove_file(path, &entries);
    }
    free_all(&all);
    return status;
}

/* Removes the files of the store or of its folder for machines. Adds the number
 * of patterns and topologies to *count. */
static nw_status forget_folder(const char *folder, size_t *count)
{
    static const char *const suffixes[] = {".pattern", ".yaml", ".entry",
                                           ".tried"};
    DIR *open = opendir(folder);
    struct dirent *entry;
    size_t entries = 0;
    nw_status status = NW_OK;

    if (!open && errno != ENOENT)
        return nw_fail(NW_EIO, "%s: %s", folder, strerror(errno));
    while (open && !status && (entry = readdir(open)))
        for (int i = 0; !status && i < 4; i++) {
            char *path = NULL;

            if (!has_form(entry->d_name, suffixes[i]))
                continue;
            status = run_known_join(folder, entry->d_name,
                                    strlen(entry->d_name), "", &path);
            if (!status)
                status = remove_file(path, i < 2 ? count : &entries);
            free(path);
        }
    if (open)
        closedir(open);
    return status;
}

static nw_status forget_all(const char *folder, size_t *count)
{
    char *machines = NULL;
    nw_status status = run_known_join(folder, NW_STORE_MACHINES,
                                      strlen(NW_STORE_MACHINES), "", &machines);

    if (!status)
        status = forget_folder(machines, count);
    if (!status)
        rmdir(machines);
    free(machines);
    nw_store_remove_runs(folder);
    return status ? status : forget_folder(folder, count);
}

nw_status nw_known_forget(const char *folder, const char *program,
                          size_t *count)
{
    char *path = NULL;
    nw_status status = nw_store_folder(folder, &path);

    *count = 0;
    if (!status)
        status = program ? forget_program(path, program, count)
                         : forget_all(path, count);
    free(path);
    return status;
}
