/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads all forms of the output of nvidia-smi topo -m. Columns may be separated
 * by tabs or blanks. NICs may be absent, named, or numbered (NIC0) with a
 * legend. Columns of NUMA nodes may be absent. Terminal codes for underlining
 * may be present. A file may repeat its table.
 */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/gpu/nvidia_smi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvidia_smi_parse_reader {
    struct nw_smi *smi;
    char *next;
    int line;
    /* columns are separated by single tabs, not by blanks */
    bool tabs;
    int32_t known; /* number of device columns */
    int32_t rows;  /* number of rows read so far */
    bool ended;    /* true after the legend or other text began */
    int extra;     /* columns after those of devices: 0 to 3 */
    char *header;  /* the header of the next table, in line `line`; NULL if no
                      table follows */
};

static nw_status
nvidia_smi_parse_bad(const struct nvidia_smi_parse_reader *reader,
                     const char *what, const char *word)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s '%.40s'", reader->smi->file,
                   reader->line, what, word);
}

/* Returns the length of a terminal code such as \033[4m at `at`, 0 for other
 * text. Text copied from a web page may lack the code's first character. */
static size_t code_length(const char *at)
{
    size_t begin = *at == '\033', end;

    if (at[begin] != '[')
        return 0;
    begin++;
    end = begin + strspn(at + begin, "0123456789;");
    if (at[end] != 'm' && at[end] != 'K')
        return 0;
    return end > begin || *at == '\033' ? end + 1 : 0;
}

/* Removes terminal codes and carriage returns from the text. */
static void strip_codes(char *text)
{
    char *to = text;

    for (const char *at = text; *at;) {
        size_t code = code_length(at);

        if (code) {
            at += code;
        } else if (*at == '\r') {
            at++;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

static char *nvidia_smi_parse_next_line(struct nvidia_smi_parse_reader *reader)
{
    char *line = reader->next, *end;

    if (!line || !*line)
        return NULL;
    end = strchr(line, '\n');
    if (end)
        *end = '\0';
    reader->next = end ? end + 1 : NULL;
    reader->line++;
    return line;
}

static char *nvidia_smi_parse_trim(char *word)
{
    size_t length;

    word += strspn(word, " \t");
    length = strlen(word);
    while (length && strchr(" \t", word[length - 1]))
        word[--length] = '\0';
    return word;
}

/* Returns the next column of a row, NULL at its end. If tabs separate the
 * columns, a column may be empty. */
static char *next_column(const struct nvidia_smi_parse_reader *reader,
                         char **rest)
{
    char *word;

    if (!*rest)
        return NULL;
    if (reader->tabs) {
        word = strsep(rest, "\t");
        return nvidia_smi_parse_trim(word);
    }
    *rest += strspn(*rest, " \t");
    if (!**rest)
        return NULL;
    word = *rest;
    *rest += strcspn(*rest, " \t");
    if (**rest)
        *(*rest)++ = '\0';
    return word;
}

static nw_status
nvidia_smi_parse_add_device(struct nvidia_smi_parse_reader *reader, char *name)
{
    struct nw_smi *smi = reader->smi;

    if (smi->count == NW_SMI_MAX)
        return nvidia_smi_parse_bad(reader, "more than 256 columns at", name);
    for (int32_t i = 0; i < smi->count; i++)
        if (!strcmp(smi->device[i].name, name))
            return nvidia_smi_parse_bad(reader, "a second column", name);
    smi->device[smi->count++] = (struct nw_smi_device){
        .name = name, .gpu = !strncmp(name, "GPU", 3), .group = -1};
    return NW_OK;
}

static bool is_header(const char *line)
{
    const char *word = line + strspn(line, " \t");
    const char *second = word + strcspn(word, " \t");

    second += strspn(second, " \t");
    return !strncmp(word, "GPU0", 4) &&
           (word[4] == '\t' || word[4] == ' ' || !word[4]) &&
           (word > line || strstr(word, "Affinity")) && *second != 'X';
}

static nw_status take_header(struct nvidia_smi_parse_reader *reader, char *line)
{
    nw_status status = NW_OK;
    char *rest = line, *word;
    const char *affinity = strstr(line, "CPU Affinity");
    const char *tab = strchr(line, '\t');

    /* a tab behind the last column separates nothing */
    reader->tabs = tab && tab[strspn(tab, " \t\r")];
    reader->extra = (affinity != NULL) +
                    (strstr(line, "NUMA Affinity") != NULL) +
                    (strstr(line, "GPU NUMA ID") != NULL);
    while (!status && (word = next_column(reader, &rest))) {
        if (!strcmp(word, "CPU") || !strcmp(word, "CPU Affinity"))
            break;
        if (!strncmp(word, "NIC", 3) && strstr(word + 3, "NIC"))
            return nvidia_smi_parse_bad(
                reader,
                "two columns run together, as in copies from a page; "
                "write the table again with 'nvidia-smi topo -m > FILE':",
                word);
        if (*word)
            status = nvidia_smi_parse_add_device(reader, word);
    }
    reader->known = reader->smi->count;
    return status;
}

/* Returns true if a cell begins with a known word and goes on after it, such as
 * NODENODE or NODEPIX: two columns run together. */
static bool is_glued(const char *cell)
{
    static const char *const words[] = {"PIX", "PXB",  "PHB", "PSB",
                                        "SYS", "NODE", "SOC"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);

        if (!strncmp(cell, words[i], length) && cell[length])
            return true;
    }
    return false;
}

static nw_status parse_cell(const struct nvidia_smi_parse_reader *reader,
                            const char *cell, uint8_t *close, int16_t *links)
{
    static const struct {
        const char *name;
        enum nw_smi_close close;
    } words[] = {{"X", NW_SMI_SELF},  {"PIX", NW_SMI_PIX},
                 {"PSB", NW_SMI_PIX}, {"PXB", NW_SMI_PXB},
                 {"PHB", NW_SMI_PHB}, {"NODE", NW_SMI_NODE},
                 {"SYS", NW_SMI_SYS}, {"SOC", NW_SMI_SYS}};
    int32_t count;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(cell, words[i].name)) {
            *close = (uint8_t)words[i].close;
            return NW_OK;
        }
    if (is_glued(cell))
        return nw_fail(
            NW_EFORMAT,
            "%s:%d: '%.40s' is two columns run together, as in copies "
            "from a page; write the table again with 'nvidia-smi topo "
            "-m > FILE'",
            reader->smi->file, reader->line, cell);
    if (strncmp(cell, "NV", 2) || !nw_parse_i32(cell + 2, &count) ||
        count < 1 || count > 1000)
        return nvidia_smi_parse_bad(
            reader, "no PIX, PXB, PHB, NODE, SYS, NV# or X:", cell);
    *close = NW_SMI_NVLINK;
    *links = (int16_t)count;
    return NW_OK;
}

static int32_t nvidia_smi_parse_find_device(const struct nw_smi *smi,
                                            const char *name)
{
    for (int32_t i = 0; i < smi->count; i++)
        if (!strcmp(smi->device[i].name, name))
            return i;
    return -1;
}

/* Returns true if a cell has a value: it is neither missing, nor empty, nor
 * "N/A". */
static bool is_told(const char *word)
{
    return word && *word && strcmp(word, "N/A");
}

static nw_status
nvidia_smi_parse_take_row(struct nvidia_smi_parse_reader *reader, char *line)
{
    struct nw_smi *smi = reader->smi;
    char *rest = line, *word = next_column(reader, &rest);
    const char **extra[2];
    nw_status status = NW_OK;
    int32_t row = nvidia_smi_parse_find_device(smi, word ? word : "");

    if (row < 0)
        return nvidia_smi_parse_bad(reader,
                                    "a row of no column:", word ? word : "");
    if (smi->device[row].line)
        return nvidia_smi_parse_bad(reader, "a second row", word);
    smi->device[row].line = reader->line;
    reader->rows++;
    for (int32_t i = 0; !status && i < reader->known; i++) {
        word = next_column(reader, &rest);
        if (!word || !*word)
            return nw_fail(NW_EFORMAT, "%s:%d: %d column%s for %d device%s",
                           smi->file, reader->line, i, nw_plural((uint64_t)i),
                           reader->known, nw_plural((uint64_t)reader->known));
        status =
            parse_cell(reader, word, &smi->close[row][i], &smi->links[row][i]);
    }
    extra[0] = &smi->device[row].cores;
    extra[1] = &smi->device[row].numa;
    for (int i = 0; !status && i < 2 && i < reader->extra; i++) {
        word = next_column(reader, &rest);
        if (is_told(word))
            *extra[i] = word;
    }
    if (!status && smi->close[row][row] != NW_SMI_SELF)
        return nvidia_smi_parse_bad(
            reader,
            "no X where the row meets its column:", smi->device[row].name);
    return status;
}

/* Reads a line of the legend such as "NIC0: mlx5_0". */
static void take_legend(struct nvidia_smi_parse_reader *reader, char *line)
{
    char *colon = strchr(line, ':');
    int32_t device;

    if (!colon)
        return;
    *colon = '\0';
    device =
        nvidia_smi_parse_find_device(reader->smi, nvidia_smi_parse_trim(line));
    if (device >= 0 && *nvidia_smi_parse_trim(colon + 1))
        reader->smi->device[device].card = nvidia_smi_parse_trim(colon + 1);
}

static const char *cell_name(const struct nw_smi *smi, int32_t i, int32_t j,
                             char out[16])
{
    static const char *const names[] = {"X",    "PIX", "PXB", "PHB",
                                        "NODE", "SYS", "NV"};
    char number[8] = "";

    if (smi->close[i][j] == NW_SMI_NVLINK)
        snprintf(number, sizeof number, "%d", smi->links[i][j]);
    snprintf(out, 16, "%s%s", names[smi->close[i][j]], number);
    return out;
}

static nw_status check_symmetry(const struct nw_smi *smi)
{
    char there[16], back[16];

    for (int32_t i = 0; i < smi->count; i++)
        for (int32_t j = 0; j < i; j++) {
            if (!smi->device[i].line || !smi->device[j].line)
                continue;
            if (smi->close[i][j] == smi->close[j][i] &&
                smi->links[i][j] == smi->links[j][i])
                continue;
            return nw_fail(NW_EFORMAT,
                           "%s:%d: the matrix is not symmetric: %s to %s is "
                           "%s, back it is %s",
                           smi->file, smi->device[i].line, smi->device[i].name,
                           smi->device[j].name, cell_name(smi, i, j, there),
                           cell_name(smi, j, i, back));
        }
    return NW_OK;
}

/* Some NICs have a column but no row. Fills their rows from their columns; two
 * such NICs count as SYS apart. Fails if the row of a GPU is missing. */
static nw_status fill_rows(struct nw_smi *smi)
{
    for (int32_t i = 0; i < smi->count; i++) {
        if (smi->device[i].line)
            continue;
        if (smi->device[i].gpu)
            return nw_fail(
                NW_EFORMAT,
                "%s:1: the row of %s is missing; the file is cut short",
                smi->file, smi->device[i].name);
        for (int32_t j = 0; j < smi->count; j++)
            smi->close[i][j] = smi->device[j].line ? smi->close[j][i]
                               : i == j            ? NW_SMI_SELF
                                                   : NW_SMI_SYS;
    }
    return NW_OK;
}

/* Returns true for the output of rocm-smi --showtopo, whose headers look like
 * those of nvidia-smi. */
static bool is_rocm(const char *text)
{
    return strstr(text, "ROCm") || strstr(text, "between two GPUs");
}

/* Returns true if the line is a row of the table, or stands where a row must
 * be: it is not indented, and the table has not ended. A table copied from a
 * web page may be indented, and a report of several commands may have other
 * text after the table. */
static bool is_row(struct nvidia_smi_parse_reader *reader, const char *line)
{
    const char *word = line + strspn(line, " \t");
    char name[64];

    if (!*word || is_header(line))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, " \t"), word);
    if (nvidia_smi_parse_find_device(reader->smi, name) >= 0)
        return true;
    reader->ended |= !strncmp(word, "Legend", 6) ||
                     !strncmp(word, "NIC Leg", 7) ||
                     reader->rows == reader->known;
    return word == line && !reader->ended;
}

/* Reads one table, up to the header of the next table or the end of the file.
 */
static nw_status parse_table(struct nvidia_smi_parse_reader *reader)
{
    struct nw_smi *smi = reader->smi;
    nw_status status = NW_OK;
    char *line = reader->header;

    reader->header = NULL;
    if (line)
        status = take_header(reader, line);
    while (!status && (line = nvidia_smi_parse_next_line(reader))) {
        const char *word = line + strspn(line, " \t");

        if (is_header(line)) {
            if (smi->count) {
                reader->header = line;
                break;
            }
            status = take_header(reader, line);
        } else if (smi->count && !strncmp(word, "NIC", 3) && strchr(word, ':'))
            take_legend(reader, line);
        else if (smi->count && is_row(reader, line))
            status = nvidia_smi_parse_take_row(reader, line);
    }
    if (!status && !smi->count)
        status = nw_fail(NW_EFORMAT,
                         "%s:1: no head such as 'GPU0 GPU1 CPU Affinity': not "
                         "what nvidia-smi topo -m writes",
                         smi->file);
    if (!status)
        status = fill_rows(smi);
    return status ? status : check_symmetry(smi);
}

/* Returns true if two texts are equal or both are missing. */
static bool is_same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same_table(const struct nw_smi *a, const struct nw_smi *b)
{
    if (a->count != b->count)
        return false;
    for (int32_t i = 0; i < a->count; i++) {
        const struct nw_smi_device *x = &a->device[i], *y = &b->device[i];
        size_t n = (size_t)a->count;

        if (strcmp(x->name, y->name) || !is_same_text(x->card, y->card) ||
            !is_same_text(x->cores, y->cores) ||
            !is_same_text(x->numa, y->numa) ||
            memcmp(a->close[i], b->close[i], n * sizeof **a->close) ||
            memcmp(a->links[i], b->links[i], n * sizeof **a->links))
            return false;
    }
    return true;
}

/* Reads the tables after the first one. Fails unless each of them equals the
 * first: two different tables describe two hosts. */
static nw_status compare_tables(const struct nvidia_smi_parse_reader *first)
{
    struct nvidia_smi_parse_reader reader = *first;
    struct nw_smi *other;
    nw_status status = nw_alloc(1, sizeof *other, &other);

    while (!status && reader.header) {
        int line = reader.line;

        memset(other, 0, sizeof *other);
        other->file = first->smi->file;
        reader = (struct nvidia_smi_parse_reader){.smi = other,
                                                  .next = reader.next,
                                                  .line = line,
                                                  .header = reader.header};
        status = parse_table(&reader);
        if (status == NW_EFORMAT ||
            (!status && !is_same_table(first->smi, other)))
            status = nw_fail(NW_EFORMAT,
                             "%s:%d: a second table, unlike the first; write "
                             "the table of each host to a file of its own",
                             other->file, line);
    }
    free(other);
    return status;
}

nw_status nw_smi_parse(struct nw_smi *smi, char *text)
{
    struct nvidia_smi_parse_reader reader = {.smi = smi, .next = text};
    nw_status status;

    if (is_rocm(text))
        return nw_fail(NW_EFORMAT,
                       "%s:1: what rocm-smi writes, not nvidia-smi: AMD's GPUs "
                       "are read from an hwloc XML file or by 'live'",
                       smi->file);
    strip_codes(text);
    status = parse_table(&reader);
    return status || !reader.header ? status : compare_tables(&reader);
}
