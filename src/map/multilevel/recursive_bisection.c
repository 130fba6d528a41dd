/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive sections along a tree, exact in size. Free seats are shared evenly
 * over as few subtrees as hold the processes. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"
#include "base/crew.h"

#include <stdlib.h>
#include <string.h>

static int32_t open_seats(const struct sectioning *work, int level,
                          int32_t from, int32_t to)
{
    const int32_t *first = work->tree->first[level];

    return work->room[first[to]] - work->room[first[from]];
}

/* --- from a piece to its halves --- */

static void take_seats(struct sectioning *work, const struct piece *piece)
{
    int32_t seat = work->tree->first[piece->level][piece->from];

    for (int32_t i = piece->first; i < piece->end; seat++)
        if (work->room[seat + 1] > work->room[seat]) {
            work->place[work->list[i]] = -1;
            work->section->seat[work->list[i++]] = seat;
        }
}

/* Where all seats are equally far apart, or are one place. */
static bool is_bottom(const struct sectioning *work, const struct piece *piece)
{
    const int32_t *first = work->tree->first[0];
    int32_t clusters = piece->to - piece->from;

    return !piece->level &&
           (clusters == 1 || first[piece->to] - first[piece->from] == clusters);
}

/* Goes down while there is one cluster; at the bottom processes take seats. */
static void add_piece(struct sectioning *work, struct piece piece)
{
    const struct nw_tree *tree = work->tree;
    int32_t count = piece.end - piece.first;

    if (!count)
        return;
    while (piece.level && piece.to - piece.from == 1) {
        int32_t seat = tree->first[piece.level][piece.from];
        int32_t end = tree->first[piece.level][piece.from + 1];

        piece.level--;
        piece.from = piece.to = tree->cluster[piece.level][seat];
        while (piece.to <= tree->cluster[piece.level][end - 1] &&
               (work->section->ways & NW_SECTION_SPREAD ||
                open_seats(work, piece.level, piece.from, piece.to) < count))
            piece.to++;
    }
    if (is_bottom(work, &piece))
        take_seats(work, &piece);
    else
        work->next[work->next_count++] = piece;
}

/* A cluster cut off waits for its siblings where they are to be sifted. */
static void add_half(struct sectioning *work, struct piece piece)
{
    if (!work->section->sift || piece.to - piece.from > 1 || !piece.level) {
        add_piece(work, piece);
        return;
    }
    for (int32_t i = piece.first; i < piece.end; i++)
        work->place[work->list[i]] = -1;
    if (piece.end > piece.first)
        work->held[work->held_count++] = piece;
}

int32_t nw_section_left(const struct sectioning *work,
                        const struct piece *piece, int32_t middle)
{
    int64_t count = piece->end - piece->first;
    int64_t all = open_seats(work, piece->level, piece->from, piece->to);
    int64_t room = open_seats(work, piece->level, piece->from, middle);
    int64_t left = work->section->ways & NW_SECTION_PACKED
                       ? count
                       : (count * room + all / 2) / all;

    if (left > room)
        left = room;
    if (count - left > all - room)
        left = count - (all - room);
    return (int32_t)left;
}

static void choose_middle(const struct sectioning *work, struct piece *piece)
{
    piece->middle = piece->from + (piece->to - piece->from) / 2;
    if (work->section->ways & NW_SECTION_LAYERS)
        piece->middle = nw_section_part_layers(work, piece, piece->middle);
    piece->left = nw_section_left(work, piece, piece->middle);
}

/* --- cutting one --- */

static size_t count_arcs(const struct sectioning *work,
                         const struct piece *piece)
{
    const struct nw_layout *layout = work->section->layout;
    size_t arcs = 0;

    for (int32_t i = piece->first; i < piece->end; i++)
        arcs += layout->row[work->list[i] + 1] - layout->row[work->list[i]];
    return arcs;
}

nw_status nw_section_graph(const struct sectioning *work, int32_t number,
                           struct nw_halve_graph *graph)
{
    const struct nw_layout *layout = work->section->layout;
    const struct piece *piece = &work->now[number];
    int32_t at = 0;
    nw_status status = nw_halve_graph_init(graph, piece->end - piece->first,
                                           count_arcs(work, piece));

    for (int32_t i = piece->first; !status && i < piece->end; i++) {
        int32_t p = work->list[i];

        graph->size[i - piece->first] = 1;
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
            int32_t to = work->place[work->arc[b].to];

            if (to >= piece->first && to < piece->end)
                graph->arc[at++] = (struct nw_halve_arc){to - piece->first,
                                                         work->arc[b].bytes};
        }
        graph->row[i - piece->first + 1] = at;
    }
    return status;
}

static nw_status sort_sides(struct sectioning *work, const struct piece *piece,
                            const int8_t *side)
{
    int32_t count = piece->end - piece->first, *sorted = NULL;
    int32_t at[2] = {0, piece->left};
    nw_status status = nw_alloc((size_t)count, sizeof *sorted, &sorted);

    if (status)
        return status;
    for (int32_t i = 0; i < count; i++)
        sorted[at[(int)side[i]]++] = work->list[piece->first + i];
    memcpy(work->list + piece->first, sorted, (size_t)count * sizeof *sorted);
    free(sorted);
    return NW_OK;
}

/* The best of several ways down and up. */
static nw_status halve_best(const struct nw_halve_graph *graph, int32_t target,
                            const struct nw_section *section,
                            struct nw_random *random, int8_t *side)
{
    double least = -1;
    int8_t *mine = NULL;
    nw_status status = nw_alloc((size_t)graph->n, 1, &mine);

    for (int i = 0; !status && i < section->repeats; i++) {
        double cut;

        status = nw_halve(graph, target, section->tries, random, mine);
        cut = nw_halve_cut(graph, mine);
        if (status || (least >= 0 && cut >= least))
            continue;
        least = cut;
        memcpy(side, mine, (size_t)graph->n);
    }
    free(mine);
    return status;
}

/* Split as it stands. */
static bool is_left(const struct sectioning *work, const struct piece *piece)
{
    return work->section->budget->stopped ||
           (work->section->outline && piece->level < work->tree->levels - 2);
}

static nw_status cut(struct sectioning *work, int32_t number)
{
    struct piece *piece = &work->now[number];
    struct nw_halve_graph graph = {0};
    struct nw_random random;
    int8_t *side = NULL;
    int32_t count = piece->end - piece->first;
    nw_status status = nw_alloc((size_t)count, 1, &side);

    choose_middle(work, piece);
    nw_random_init(&random, work->section->seed * 1000003 +
                                (uint64_t)piece->first * 64 +
                                (uint64_t)piece->level);
    if (!status && is_left(work, piece)) {
        memset(side, 1, (size_t)count);
        memset(side, 0, (size_t)piece->left);
    } else if (!status && piece->left > 0 && piece->left < count) {
        status = nw_section_graph(work, number, &graph);
        graph.hasty = (work->section->only_formless && !work->sifted) ||
                      work->section->ways & NW_SECTION_STRAIGHT;
        if (!status && work->section->tiling)
            status = nw_section_halve_grid(work, piece, &graph, &random, side);
        else if (!status)
            status =
                halve_best(&graph, piece->left, work->section, &random, side);
        if (!status)
            status = sort_sides(work, piece, side);
    }
    nw_halve_graph_fini(&graph);
    free(side);
    return status;
}

static void cut_job(void *user, int32_t number)
{
    struct sectioning *work = user;
    nw_status status = cut(work, number);

    if (status)
        __atomic_store_n(&work->status, status, __ATOMIC_RELAXED);
}

/* --- generations --- */

struct load {
    size_t bonds;
    int32_t piece;
};

static int by_bonds(const void *left, const void *right)
{
    const struct load *a = left, *b = right;

    if (a->bonds != b->bonds)
        return a->bonds > b->bonds ? -1 : 1;
    return (a->piece > b->piece) - (a->piece < b->piece);
}

struct sharing {
    void (*job)(void *user, int32_t i);
    void *user;
    struct load *load; /* in the order of work */
};

static void do_share(void *user, int32_t i)
{
    const struct sharing *sharing = user;

    sharing->job(sharing->user, sharing->load[i].piece);
}

nw_status nw_section_share_out(const struct sectioning *work,
                               void (*job)(void *user, int32_t i), void *user)
{
    struct sharing sharing = {job, user, NULL};
    nw_status status =
        nw_alloc((size_t)work->count, sizeof *sharing.load, &sharing.load);

    if (status)
        return status;
    for (int32_t i = 0; i < work->count; i++)
        sharing.load[i] = (struct load){count_arcs(work, &work->now[i]), i};
    qsort(sharing.load, (size_t)work->count, sizeof *sharing.load, by_bonds);
    nw_crew_run(do_share, &sharing, work->count, work->section->threads);
    free(sharing.load);
    return NW_OK;
}

void nw_section_number(struct sectioning *work)
{
    for (int32_t i = 0; i < work->count; i++)
        for (int32_t k = work->now[i].first; k < work->now[i].end; k++)
            work->place[work->list[k]] = k;
}

static void cut_generation(struct sectioning *work)
{
    struct piece *swap = work->now;
    nw_status status;

    work->now = work->next;
    work->count = work->next_count;
    work->next = swap;
    work->next_count = 0;
    if (!work->section->budget->stopped)
        nw_budget_go(work->section->budget, 1, work->section->budget->best);
    nw_section_number(work);
    status = nw_section_share_out(work, cut_job, work);
    if (status)
        work->status = status;
    for (int32_t i = 0; !work->status && i < work->count; i++) {
        struct piece left = work->now[i], right = left;

        left.to = right.from = left.middle;
        left.end = right.first = left.first + left.left;
        add_half(work, left);
        add_half(work, right);
    }
}

static void release(struct sectioning *work)
{
    for (int32_t i = 0; i < work->held_count; i++)
        add_piece(work, work->held[i]);
    work->held_count = 0;
}

/* Down to the children of the clusters cut into now. */
static void cut_level(struct sectioning *work)
{
    while (!work->status && work->next_count)
        cut_generation(work);
    if (!work->status && work->held_count && !work->section->budget->stopped)
        work->status = nw_section_sift(work);
    if (work->section->formless ? work->section->only_shaped
                                : work->section->only_formless)
        work->held_count = 0;
    release(work);
}

#define LITTLE 300000 /* bonds: a thread takes longer to start and end */

static void copy_bonds(void *user, int32_t part)
{
    struct sectioning *work = user;
    const struct nw_layout *layout = work->section->layout;
    struct nw_crew_part bonds =
        nw_crew_part((int64_t)layout->row[layout->count], part);

    for (int64_t b = bonds.first; b < bonds.end; b++)
        work->arc[b] = (struct nw_halve_arc){layout->bond[b].peer,
                                             (float)layout->bond[b].bytes};
}

static nw_status prepare(struct sectioning *work)
{
    const struct nw_layout *layout = work->section->layout;
    size_t n = (size_t)layout->count, seats = (size_t)work->tree->seats;
    nw_status status =
        nw_alloc_raw(layout->row[n], sizeof *work->arc, &work->arc);

    if (!status)
        status = nw_alloc(n, sizeof *work->list, &work->list);

    if (!status)
        status = nw_alloc_raw(n, sizeof *work->place, &work->place);
    if (!status)
        status = nw_alloc(seats + 1, sizeof *work->room, &work->room);
    if (!status)
        status = nw_alloc(n + 1, sizeof *work->now, &work->now);
    if (!status)
        status = nw_alloc(n + 1, sizeof *work->next, &work->next);
    if (!status)
        status = nw_alloc(n + 1, sizeof *work->held, &work->held);
    if (!status)
        nw_crew_run(copy_bonds, work, NW_CREW_PARTS,
                    layout->row[n] < LITTLE ? 1 : work->section->threads);
    if (!status && work->section->tiling)
        status = nw_section_read_grid(work);
    return status;
}

static void begin(struct sectioning *work)
{
    const struct nw_layout *layout = work->section->layout;
    struct piece all = {.to = 1, .level = work->tree->levels - 1};

    for (int32_t s = 0; s < work->tree->seats; s++)
        work->room[s + 1] = work->room[s] + !layout->fixed[s];
    for (int32_t p = 0; p < layout->count; p++) {
        work->place[p] = -1;
        work->section->seat[p] = layout->seat[p];
        if (!layout->fixed[layout->seat[p]])
            work->list[all.end++] = p;
    }
    add_piece(work, all);
}

nw_status nw_section(struct nw_section *section)
{
    struct sectioning work = {.section = section,
                              .tree = section->layout->tree};
    nw_status status = prepare(&work);

    if (!status) {
        begin(&work);
        while (!work.status && work.next_count)
            cut_level(&work);
        status = work.status;
    }
    free(work.arc);
    free(work.list);
    free(work.place);
    free(work.room);
    free(work.now);
    free(work.next);
    free(work.held);
    for (int d = 0; d < NW_TILE_DIMS; d++)
        free(work.at[d]);
    return status;
}
