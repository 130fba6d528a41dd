/* SPDX-License-Identifier: BSD-3-Clause */
/* Places the boxes of a node's parts. From the leaves up, each box arranges the
 * boxes inside it in rows, sorted by kind. */
#include "base/array.h"
#include "report/picture.h"

#include <math.h>
#include <stdlib.h>

#define MOST_LEAVES 1024

/* The state of placing the parts of one type of node. A vertex is a part. */
struct sizes {
    const struct nw_node_type *type;
    struct nw_node_layout *layout;
    int32_t *first, *inside; /* boxes directly inside each box, in CSR format */
    int32_t *children;       /* [vertex_count] number of children of each
                                vertex */
    bool lines;              /* whether direct links are drawn, below the
                                GPUs */
};

static bool is_leaf(enum nw_vertex_kind kind)
{
    return kind == NW_VERTEX_CORE || kind == NW_VERTEX_GPU ||
           kind == NW_VERTEX_NIC || kind == NW_VERTEX_GPU_SWITCH;
}

/* Returns true if a vertex gets a box: the node, packages, cores and devices
 * always do. A group, bridge or board does if it has several children. A NUMA
 * node or die does if it has children and siblings. Caches and hardware threads
 * never do. */
static bool is_drawn(const struct sizes *sizes, int32_t v)
{
    enum nw_vertex_kind kind = (enum nw_vertex_kind)sizes->type->kind[v];
    int32_t parent = sizes->type->parent[v];

    if (v == 0 || is_leaf(kind) || kind == NW_VERTEX_PACKAGE)
        return true;
    switch (kind) {
    case NW_VERTEX_GROUP:
    case NW_VERTEX_BRIDGE:
    case NW_VERTEX_BOARD:
        return sizes->children[v] > 1;
    case NW_VERTEX_NUMA:
    case NW_VERTEX_DIE:
        return sizes->children[v] > 0 && sizes->children[parent] > 1;
    default:
        return false;
    }
}

/* Counts the children of each vertex. Finds the box around each vertex and the
 * boxes directly inside each box. */
static nw_status find_owners(struct sizes *sizes)
{
    const struct nw_node_type *type = sizes->type;
    int32_t n = type->vertex_count, *owner = sizes->layout->owner;

    for (int32_t v = 1; v < n; v++)
        sizes->children[type->parent[v]]++;
    owner[0] = -1;
    for (int32_t v = 1; v < n; v++) {
        int32_t parent = type->parent[v];

        owner[v] = is_drawn(sizes, parent) ? parent : owner[parent];
        if (is_drawn(sizes, v))
            sizes->first[owner[v] + 2]++;
    }
    for (int32_t v = 1; v <= n; v++)
        sizes->first[v] += sizes->first[v - 1];
    for (int32_t v = 1; v < n; v++)
        if (is_drawn(sizes, v))
            sizes->inside[sizes->first[owner[v] + 1]++] = v;
    return NW_OK;
}

/* Sets the size of the box of a core or device. */
static void size_leaf(struct sizes *sizes, int32_t v)
{
    struct nw_node_layout *layout = sizes->layout;
    double wide = 1, high = 1;

    switch (sizes->type->kind[v]) {
    case NW_VERTEX_GPU:
        wide = 2.6;
        high = 1.8;
        break;
    case NW_VERTEX_NIC:
        wide = 2;
        break;
    case NW_VERTEX_GPU_SWITCH:
        wide = 2.6;
        break;
    default:
        break;
    }
    layout->width[v] = wide * layout->unit;
    layout->height[v] = high * layout->unit;
}

/* The position at which the next box is placed. Boxes are placed from left to
 * right, in lines of at most `most` boxes. `gap` is the distance between boxes,
 * `pad` that from the edge of the outer box. */
struct pen {
    double x, y, gap, pad, line_height, used_width;
    int32_t in_line, most;
};

static void new_line(struct pen *pen)
{
    if (!pen->in_line)
        return;
    pen->y += pen->line_height + pen->gap;
    pen->x = pen->pad;
    pen->in_line = 0;
    pen->line_height = 0;
}

static void node_layout_put(struct pen *pen, struct nw_node_layout *layout,
                            int32_t v)
{
    if (pen->in_line == pen->most)
        new_line(pen);
    layout->x[v] = pen->x;
    layout->y[v] = pen->y;
    pen->x += layout->width[v] + pen->gap;
    pen->used_width = fmax(pen->used_width, pen->x - pen->gap + pen->pad);
    pen->line_height = fmax(pen->line_height, layout->height[v]);
    pen->in_line++;
}

/* Returns the number of columns for `count` boxes. With `from`, which is
 * `least` rounded up, it is the smallest divisor of `count` from `from` to
 * twice `from`, or else `from`. */
static int32_t columns_for(int32_t count, double least)
{
    int32_t from = (int32_t)ceil(least);

    for (int32_t columns = from; columns <= 2 * from; columns++)
        if (count % columns == 0)
            return columns;
    return from;
}

/* Returns the most boxes in a line, for `count` boxes of the kind of vertex
 * `v`. */
static int32_t line_of(const struct sizes *sizes, int32_t v, int32_t count)
{
    enum nw_vertex_kind kind = (enum nw_vertex_kind)sizes->type->kind[v];

    if (kind == NW_VERTEX_CORE)
        return count <= 4 ? 4 : columns_for(count, sqrt(count * 2.0));
    if (sizes->lines && kind != NW_VERTEX_GPU_SWITCH)
        return count; /* one row, so that no line crosses other boxes */
    if (kind == NW_VERTEX_BRIDGE)
        return count <= 2 ? 1 : 2;
    if (kind == NW_VERTEX_GPU_SWITCH)
        return 1;
    if (is_leaf(kind))
        return 4;
    return count <= 3 ? 3 : columns_for(count, sqrt(count));
}

/* Returns how many of `count` boxes are in each line: usually `columns`. If the
 * last argument, the number of boxes for which a line has space, is larger, the
 * boxes fill as few lines as possible, and all lines have about the same
 * length. */
static int32_t node_layout_widen(int32_t columns, int32_t count, int32_t room)
{
    int32_t lines;

    if (room <= columns)
        return columns;
    lines = (count - 1) / room + 1;
    return (count - 1) / lines + 1;
}

/* Returns the kind of parts in whose row the box of vertex `v` is: its own
 * kind. But if direct links are drawn, a bridge or board that contains no GPU
 * is in the row of NICs. */
static int node_layout_row_of(const struct sizes *sizes, int32_t v)
{
    const struct nw_node_type *type = sizes->type;
    int kind = type->kind[v];

    if (!sizes->lines || (kind != NW_VERTEX_BRIDGE && kind != NW_VERTEX_BOARD))
        return kind;
    for (int32_t g = 0; g < type->gpu_count; g++)
        for (int32_t b = type->gpu[g]; b > 0; b = sizes->layout->owner[b])
            if (b == v)
                return kind;
    return NW_VERTEX_NIC;
}

/* Places the boxes of the row of one kind inside the box of vertex `v`. */
static void put_kind(struct sizes *sizes, struct pen *pen, int32_t v, int kind)
{
    const int32_t *box = &sizes->inside[sizes->first[v]];
    int32_t count = sizes->first[v + 1] - sizes->first[v], of_kind = 0;
    int32_t before = pen->in_line; /* boxes of another kind in the same row */
    double step = sizes->layout->unit + pen->gap;

    for (int32_t i = 0; i < count; i++)
        of_kind += node_layout_row_of(sizes, box[i]) == kind;
    for (int32_t i = 0; i < count; i++) {
        if (node_layout_row_of(sizes, box[i]) != kind)
            continue;
        pen->most = before + line_of(sizes, box[i], of_kind);
        if (kind == NW_VERTEX_CORE)
            pen->most = node_layout_widen(
                pen->most, of_kind,
                (int32_t)((pen->used_width - pen->pad) / step));
        node_layout_put(pen, sizes->layout, box[i]);
    }
    if (!sizes->lines || (kind != NW_VERTEX_BRIDGE && kind != NW_VERTEX_BOARD))
        new_line(pen); /* otherwise GPUs follow in the same row */
}

/* Returns the kind of parts at position `place` in the order from top to
 * bottom inside the box of vertex `v`. If direct links are drawn below the
 * GPUs, NICs are above the boxes that contain GPUs; in a node these may also be
 * packages. */
static int kind_at(const struct sizes *sizes, int32_t v, int place)
{
    int first = v ? NW_VERTEX_BRIDGE : 0;

    if (!sizes->lines || place < first || place > NW_VERTEX_NIC)
        return place;
    return place == first ? NW_VERTEX_NIC : place - 1;
}

/* Moves boxes inside `v` so that their bottom edges are at the same height: the
 * GPUs, and the bridges and boards with GPUs. Direct links lead downwards from
 * them. */
static void align_bottoms(struct sizes *sizes, int32_t v)
{
    struct nw_node_layout *layout = sizes->layout;
    double bottom = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = sizes->first[v]; i < sizes->first[v + 1]; i++) {
            int32_t box = sizes->inside[i];
            int kind = node_layout_row_of(sizes, box);

            if (kind != NW_VERTEX_BRIDGE && kind != NW_VERTEX_BOARD &&
                kind != NW_VERTEX_GPU)
                continue;
            if (pass)
                layout->y[box] = bottom - layout->height[box];
            else
                bottom = fmax(bottom, layout->y[box] + layout->height[box]);
        }
}

/* Places the boxes inside the box of vertex `v`, kind by kind, and sets its
 * size. All kinds but cores are placed twice: the first time to find how wide
 * the lines of cores may be. */
static void fill_box(struct sizes *sizes, int32_t v)
{
    struct nw_node_layout *layout = sizes->layout;
    double gap = layout->unit * 0.22, pad = layout->unit * 0.5;
    struct pen pen = {.x = pad, .y = pad, .gap = gap, .pad = pad};

    for (int place = 0; place < NW_VERTEX_KIND_COUNT; place++)
        if (place != NW_VERTEX_CORE)
            put_kind(sizes, &pen, v, kind_at(sizes, v, place));
    pen.x = pen.y = pad;
    for (int place = 0; place < NW_VERTEX_KIND_COUNT; place++)
        put_kind(sizes, &pen, v, kind_at(sizes, v, place));
    if (sizes->lines)
        align_bottoms(sizes, v);
    layout->width[v] = fmax(pen.used_width, 2 * pad + layout->unit);
    layout->height[v] = fmax(pen.y - gap + pad, 2 * pad + layout->unit);
}

/* Makes each GPU switch, such as an NVSwitch, that is directly in the node a
 * bar over the whole width of the node. */
static void widen_switches(struct sizes *sizes)
{
    const struct nw_node_type *type = sizes->type;
    struct nw_node_layout *layout = sizes->layout;

    for (int32_t v = 1; v < type->vertex_count; v++)
        if (type->kind[v] == NW_VERTEX_GPU_SWITCH && !layout->owner[v])
            layout->width[v] = layout->width[0] - layout->unit;
}

/* Converts the positions of boxes, which are relative to the box around them,
 * to positions relative to the node. The outer box comes first in the order of
 * vertices. */
static void make_absolute(struct sizes *sizes)
{
    struct nw_node_layout *layout = sizes->layout;

    for (int32_t v = 1; v < sizes->type->vertex_count; v++)
        if (layout->width[v] > 0) {
            layout->x[v] += layout->x[layout->owner[v]];
            layout->y[v] += layout->y[layout->owner[v]];
        }
}

void nw_node_layout_bend(const struct nw_node_layout *layout,
                         const int32_t end[2], double bend[2])
{
    double across = fabs(layout->x[end[0]] - layout->x[end[1]]);
    double down = fabs(layout->y[end[0]] - layout->y[end[1]]);
    bool aside = across < layout->unit;

    bend[0] = aside ? layout->unit * 0.5 + 0.16 * down : 0;
    bend[1] = aside ? 0 : layout->unit * 0.5 + 0.16 * across;
}

/* Makes the node's frame large enough for the curves of all direct links except
 * those to GPU switches. A curve is 3/4 as high as its bend. */
static void hold_curves(struct sizes *sizes)
{
    const struct nw_node_type *type = sizes->type;
    struct nw_node_layout *layout = sizes->layout;

    for (int32_t d = 0; d < type->direct_count; d++) {
        int32_t end[2] = {type->direct[d].a, type->direct[d].b};
        double bend[2];

        if (type->kind[end[0]] == NW_VERTEX_GPU_SWITCH ||
            type->kind[end[1]] == NW_VERTEX_GPU_SWITCH)
            continue;
        nw_node_layout_bend(layout, end, bend);
        for (int i = 0; i < 2; i++) {
            double right = layout->x[end[i]] + layout->width[end[i]];
            double bottom = layout->y[end[i]] + layout->height[end[i]];

            layout->width[0] = fmax(layout->width[0],
                                    right + 0.75 * bend[0] + layout->unit / 2);
            layout->height[0] = fmax(
                layout->height[0], bottom + 0.75 * bend[1] + layout->unit / 2);
        }
    }
}

static void node_layout_lay_out(struct sizes *sizes)
{
    const struct nw_node_type *type = sizes->type;

    sizes->lines = type->direct_count > 0;
    for (int32_t v = type->vertex_count - 1; v >= 0; v--) {
        if (!is_drawn(sizes, v))
            continue;
        if (v && is_leaf((enum nw_vertex_kind)type->kind[v]))
            size_leaf(sizes, v);
        else
            fill_box(sizes, v);
    }
    make_absolute(sizes);
    hold_curves(sizes);
    widen_switches(sizes);
}

static nw_status node_layout_allocate(struct nw_node_layout *layout, size_t n)
{
    nw_status status = nw_alloc(n, sizeof(double), &layout->x);

    if (!status)
        status = nw_alloc(n, sizeof(double), &layout->y);
    if (!status)
        status = nw_alloc(n, sizeof(double), &layout->width);
    if (!status)
        status = nw_alloc(n, sizeof(double), &layout->height);
    if (!status)
        status = nw_alloc(n, sizeof(int32_t), &layout->owner);
    return status;
}

nw_status nw_node_layout_new(const struct nw_node_type *type, double unit,
                             struct nw_node_layout *layout)
{
    size_t n = (size_t)type->vertex_count;
    struct sizes sizes = {.type = type, .layout = layout};
    nw_status status;

    *layout = (struct nw_node_layout){.unit = unit};
    status = node_layout_allocate(layout, n);
    if (!status)
        status = nw_alloc(n + 2, sizeof *sizes.first, &sizes.first);
    if (!status)
        status = nw_alloc(n, sizeof *sizes.inside, &sizes.inside);
    if (!status)
        status = nw_alloc(n, sizeof *sizes.children, &sizes.children);
    if (!status && type->core_count + type->gpu_count > MOST_LEAVES) {
        layout->summary = true;
        layout->width[0] = 16 * unit;
        layout->height[0] = 5 * unit;
    } else if (!status) {
        status = find_owners(&sizes);
        node_layout_lay_out(&sizes);
    }
    free(sizes.first);
    free(sizes.inside);
    free(sizes.children);
    if (status)
        nw_node_layout_fini(layout);
    return status;
}

void nw_node_layout_fini(struct nw_node_layout *layout)
{
    free(layout->x);
    free(layout->y);
    free(layout->width);
    free(layout->height);
    free(layout->owner);
    *layout = (struct nw_node_layout){0};
}
