/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise channel tune measures which protocol is best for small messages on
 * this machine. The result stays in the user's cache folder, for every later
 * channel. nodewise channel reach shows how adapters access GPU memory here. */
#include <nodewise/channel.h>
#include <nodewise/report.h>

#include "base/file.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/channel_reach.h"
#include "cli/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY_SHOW 0x2001
#define KEY_CLEAR 0x2002

enum {
    WORDS = 8,
    BYTES = 5
}; /* number of words in a line of the table; index of the word with the
      message size */
static const char *const names[WORDS] = {"from",     "to",     "provider",
                                         "locality", "regime", "bytes",
                                         "protocol", "copy"};

struct channel_arguments {
    struct nw_common common;
    struct nw_channel_options channel;
    uint64_t rounds;
    bool tune, reach, show, clear;
    char file[NW_FILE_UNNAMED_PATH]; /* file through which the two processes
                                        connect */
};

static const struct argp_option options[] = {
    {"show", KEY_SHOW, NULL, 0, "Print the stored table and measure nothing",
     0},
    {"clear", KEY_CLEAR, NULL, 0, "Delete the stored table", 0},
    {"provider", 'f', "NAME", 0,
     "libfabric provider (default: the one that a channel chooses between two "
     "processes of this host; for reach: every adapter's)",
     0},
    {"iterations", 'i', "N", 0,
     "Number of measurements of each protocol (default: 5)", 0},
    {0},
};

static void channel_parse_word(struct channel_arguments *arguments, char *value,
                               struct argp_state *state)
{
    if (arguments->tune || arguments->reach ||
        (strcmp(value, "tune") && strcmp(value, "reach")))
        nw_argfail(state, "unknown word '%s'; use tune or reach", value);
    arguments->tune = !strcmp(value, "tune");
    arguments->reach = !arguments->tune;
}

static void cli_channel_check(const struct channel_arguments *arguments,
                              struct argp_state *state)
{
    if (!arguments->tune && !arguments->reach)
        nw_argfail(
            state,
            "tune or reach is missing; for example: nodewise channel tune");
    if (arguments->show && arguments->clear)
        nw_argfail(state, "--show and --clear exclude each other");
    if (arguments->reach && (arguments->show || arguments->clear))
        nw_argfail(state,
                   "--show and --clear belong to tune; reach stores nothing");
    if (arguments->reach && arguments->rounds)
        nw_argfail(state,
                   "--iterations belongs to tune; reach measures no time");
}

static const struct nw_common_help channel_help = {
    .output = "Write the table to FILE (- is stdout)",
    .json = NW_COMMON_JSON,
    .progress = NW_COMMON_PROGRESS,
    .quiet = "No table beside FILE, no notes and no progress",
};

static error_t channel_parse(int key, char *value, struct argp_state *state)
{
    struct channel_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &channel_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_SHOW:
        arguments->show = true;
        return 0;
    case KEY_CLEAR:
        arguments->clear = true;
        return 0;
    case 'f':
        arguments->channel.provider = value;
        return 0;
    case 'i':
        if (!nw_parse_u64(value, &arguments->rounds) || !arguments->rounds ||
            arguments->rounds > 100000)
            nw_argfail(state,
                       "--iterations is a number from 1 to 100000, not '%s'",
                       value);
        return 0;
    case ARGP_KEY_ARG:
        channel_parse_word(arguments, value, state);
        return 0;
    case ARGP_KEY_END:
        cli_channel_check(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = channel_parse,
    .args_doc = "tune\nreach",
    .doc = "Measure which protocol is fastest for small messages between host "
           "and GPU memory, and keep the result for later programs. "
           "reach: test how adapters access GPU memory.\v"
           "Example:\n  nodewise channel tune\n",
    .children = nw_common_children,
};

/* -- output -- */

/* Calls tell() with the words of each line of a table after its first line. The
 * table must be valid. */
static void each_line(const char *text,
                      void (*tell)(void *context, char *words[WORDS]),
                      void *context)
{
    char *copy = strdup(text), *words[WORDS], *line;
    struct nw_lines lines;

    if (!copy)
        return;
    nw_lines_init(&lines, "", copy);
    (void)nw_lines_next(&lines);
    while ((line = nw_lines_next(&lines))) {
        for (int i = 0; i < WORDS; i++)
            words[i] = nw_word_next(&line);
        tell(context, words);
    }
    free(copy);
}

static void tell_row(void *context, char *words[WORDS])
{
    nw_table_row(context, -1);
    for (int i = 0; i < WORDS; i++)
        nw_table_cell(context, "%s", words[i]);
}

static nw_status channel_make_table(const char *text, char **out)
{
    nw_table *table = NULL;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    for (int i = 0; i < WORDS; i++)
        nw_table_column(table, names[i],
                        i == BYTES ? NW_ALIGN_RIGHT : NW_ALIGN_LEFT);
    each_line(text, tell_row, table);
    status = nw_table_text(table, out);
    nw_table_free(table);
    return status;
}

static void tell_json(void *context, char *words[WORDS])
{
    uint64_t bytes = 0;

    nw_json_flat_object(context, NULL);
    for (int i = 0; i < WORDS; i++)
        if (i == BYTES && nw_parse_u64(words[i], &bytes))
            nw_json_unsigned(context, names[i], bytes);
        else
            nw_json_string(context, names[i], words[i]);
    nw_json_end_object(context);
}

static nw_status channel_make_json(const char *path, const char *text,
                                   char **out)
{
    struct nw_text written = {0};
    struct nw_json json = {.text = &written};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.channel/1");
    nw_json_string(&json, "file", path);
    nw_json_array(&json, "thresholds");
    each_line(text, tell_json, &json);
    nw_json_end_array(&json);
    nw_json_end_object(&json);
    return nw_text_take(&written, out);
}

static int channel_tell(const struct channel_arguments *arguments,
                        const char *path, const char *text)
{
    char *table = NULL, *json = NULL;
    nw_status status = channel_make_table(text, &table);
    int code;

    if (!status)
        status = channel_make_json(path, text, &json);
    code = status ? nw_cli_fail("channel", status)
                  : nw_cli_output("channel", &arguments->common, text, table,
                                  json);
    free(table);
    free(json);
    return code;
}

/* -- the stored table -- */

/* Reads and checks a table; the caller frees *out. */
static nw_status read_table(const char *path, char **out)
{
    size_t length;
    char *text = NULL;
    nw_status status = nw_file_read_text(path, &text, &length);

    if (!status)
        status = nw_channel_table_check(path, text);
    if (status)
        free(text);
    else
        *out = text;
    return status;
}

static nw_status channel_read_kept(const char *path, char **out)
{
    if (!nw_file_has_bytes(path))
        return nw_fail(
            NW_EIO,
            "%s: no table is stored; 'nodewise channel tune' measures one",
            path);
    return read_table(path, out);
}

static int channel_show(const struct channel_arguments *arguments,
                        const char *path)
{
    char *text = NULL;
    nw_status status = channel_read_kept(path, &text);
    int code = status ? nw_cli_fail("channel", status)
                      : channel_tell(arguments, path, text);

    free(text);
    return code;
}

static int channel_clear(const char *path)
{
    if (unlink(path) && errno != ENOENT)
        return nw_cli_fail(
            "channel",
            nw_fail(NW_EIO, "%s: cannot remove it: %s", path, strerror(errno)));
    return NW_EXIT_DONE;
}

/* Appends to `all` the lines of `kept`, the stored table, that belong to other
 * providers than the new table `fresh`. */
static void add_others(struct nw_text *all, const char *kept, const char *fresh)
{
    char provider[64] = "";

    if (sscanf(strchr(fresh, '#'), "%*[^\n] %*s %*s %63s", provider) != 1)
        return;
    for (const char *line = kept; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        char other[64] = "";

        if (sscanf(line, "%*s %*s %63s", other) == 1 && line[0] != '#' &&
            strncmp(line, "nodewise", 8) && strcmp(other, provider))
            nw_text_add_bytes(all, line, length);
        line += line[length - 1] ? length : length - 1;
    }
}

/* Replaces the lines of this provider in the stored table by those of `fresh`.
 * Another process may replace the lines of another provider at the same time.
 */
static nw_status channel_keep(const char *path, const char *fresh)
{
    struct nw_text all = {0};
    char *kept = NULL, *text = NULL;
    int lock = nw_file_lock(path);
    nw_status status;

    nw_text_add(&all, fresh);
    if (!channel_read_kept(path, &kept))
        add_others(&all, kept, fresh);
    free(kept);
    status = nw_text_take(&all, &text);
    if (!status)
        status = nw_file_write(path, text, strlen(text));
    if (lock >= 0)
        (void)close(lock);
    free(text);
    return status;
}

/* -- measuring -- */

static nw_status channel_measure(struct channel_arguments *arguments,
                                 int32_t rank, struct nw_progress *progress,
                                 char **table)
{
    arguments->channel.rank = rank;
    return nw_channel_tune(&arguments->channel, (uint32_t)arguments->rounds,
                           progress, table);
}

/* Without a launcher, rank 1 is a child process. CUDA does not work in a
 * process that was forked after its parent used CUDA. So the child is forked
 * before any GPU is looked for. It measures as soon as it receives a byte, and
 * ends if the parent closes the socket. */
struct partner {
    pid_t child; /* process id; 0: no child */
    /* descriptors of the socket to the child and of the unnamed file through
     * which both connect; -1: none */
    int start, file;
};

static nw_status partner_fork(struct channel_arguments *arguments,
                              struct partner *partner)
{
    int ends[2] = {-1, -1};
    char word;
    nw_status status = nw_file_unnamed(arguments->file, &partner->file);

    if (!status && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        status = nw_fail(NW_EIO, "cannot make a pair of sockets");
    if (status)
        return status;
    arguments->channel.count = 2;
    arguments->channel.file = arguments->file;
    fflush(NULL);
    partner->child = nw_child_fork();
    if (!partner->child) {
        char *table = NULL;

        (void)close(ends[1]);
        if (read(ends[0], &word, 1) != 1)
            _exit(0);
        _exit(channel_measure(arguments, 1, NULL, &table) ? 1 : 0);
    }
    (void)close(ends[0]);
    partner->start = ends[1];
    return partner->child < 0 ? nw_fail(NW_EIO, "cannot start a second process")
                              : NW_OK;
}

static void partner_end(struct partner *partner)
{
    int how = 0;

    if (partner->start >= 0)
        (void)close(partner->start);
    if (partner->child > 0)
        (void)waitpid(partner->child, &how, 0);
    if (partner->file >= 0)
        (void)close(partner->file);
}

/* Starts the child's measurements and takes part in them as rank 0. */
static nw_status measure_here(struct channel_arguments *arguments,
                              const struct partner *partner, char **table)
{
    nw_status status = send(partner->start, "", 1, MSG_NOSIGNAL) == 1
                           ? NW_OK
                           : nw_fail(NW_EIO, "the second process of the "
                                             "measurement has ended too early");

    if (!status)
        status = channel_measure(
            arguments, 0, nw_cli_progress_later(&arguments->common), table);
    nw_cli_progress_finish();
    return status;
}

/* Measures the table; rank 0 stores and prints it. In a job of several ranks,
 * the other end is the other rank; else it is the partner process. Returns the
 * exit status. */
static int channel_tune(struct channel_arguments *arguments,
                        const struct partner *partner, const char *path)
{
    char *table = NULL;
    int32_t rank = 0, count = 0;
    nw_status status = nw_file_folders(path, 0700);
    int code;

    if (!status)
        status = nw_file_writable(path);
    if (!status)
        status = nw_file_writable(arguments->common.output);
    if (status) /* fail before measuring for minutes */
        return nw_cli_fail_output("channel", status);
    if (nw_channel_job(&rank, &count) && count > 1) {
        status = channel_measure(
            arguments, rank,
            rank ? NULL : nw_cli_progress_later(&arguments->common), &table);
        nw_cli_progress_finish();
    } else {
        status = measure_here(arguments, partner, &table);
    }
    if (status)
        return nw_cli_fail("channel", status);
    if (rank)
        return NW_EXIT_DONE;
    status = channel_keep(path, table);
    if (!status && !arguments->common.quiet)
        fprintf(stderr, "nodewise channel: kept in %s\n", path);
    code = status ? nw_cli_fail_output("channel", status)
                  : channel_tell(arguments, path, table);
    free(table);
    return code;
}

/* Returns true if this process would measure (neither --show nor --clear is
 * given), and no launcher started a second rank. */
static bool tunes_alone(const struct channel_arguments *arguments)
{
    int32_t rank = 0, count = 0;

    return !arguments->show && !arguments->clear &&
           !(nw_channel_job(&rank, &count) && count > 1);
}

static int channel_run(int argc, char **argv)
{
    struct channel_arguments arguments = {.channel = NW_CHANNEL_OPTIONS_INIT};
    struct partner partner = {.start = -1, .file = -1};
    char *path = NULL;
    nw_status status = NW_OK;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.reach)
        return nw_cli_channel_reach(&arguments.common,
                                    arguments.channel.provider);
    if (tunes_alone(&arguments))
        status = partner_fork(&arguments, &partner);
    if (!status)
        status = nw_channel_table_path(&path);
    if (status)
        code = nw_cli_fail("channel", status);
    else if (arguments.show)
        code = channel_show(&arguments, path);
    else
        code = arguments.clear ? channel_clear(path)
                               : channel_tune(&arguments, &partner, path);
    partner_end(&partner);
    free(path);
    return code;
}

const struct nw_command nw_command_channel = {
    "channel", "measure the protocols for small GPU messages", &argp,
    channel_run};
