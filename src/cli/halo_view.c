/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the output of nodewise halo plan. */
#include "cli/halo_view.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/picture.h"

#include <nodewise/cost.h>
#include <nodewise/pattern.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of subdomains in the list of the text output. */
#define MOST_LISTED 64

/* The figures of the exchange, for the planned placement and for the placement
 * in rank order, which is called trivial. */
struct halo_view_figures {
    struct nw_halo_summary sum, trivial;
    nw_pattern *pattern;
    struct nw_halo_prediction *pair; /* [pair_count] */
    size_t pair_count;
    uint64_t bytes[NW_HALO_METHOD_COUNT];
    int64_t pairs[NW_HALO_METHOD_COUNT];
    double seconds, trivial_seconds; /* time of the busiest link in s; 0: no
                                        links */
};

/* Stores in *out the time of the busiest link in s for this layout; leaves *out
 * unchanged if the machine has no links. */
static nw_status halo_view_congestion(const struct nw_halo_view_of *view,
                                      const nw_halo_layout *layout,
                                      const nw_pattern *pattern, double *out)
{
    nw_mapping *mapping = NULL;
    struct nw_cost cost;
    nw_status status;

    if (!view->topology || !nw_topology_has_links(view->topology))
        return NW_OK;
    status = nw_halo_layout_mapping(layout, view->topology, &mapping);
    if (!status)
        status = nw_cost_evaluate(view->topology, pattern, mapping, &cost);
    if (!status) {
        *out = cost.max_congestion;
        nw_cost_fini(&cost);
    }
    nw_mapping_free(mapping);
    return status;
}

/* Sums pairs and bytes for each method of transfer. */
static void count_methods(struct halo_view_figures *figures)
{
    for (size_t i = 0; i < figures->pair_count; i++) {
        const struct nw_halo_prediction *pair = &figures->pair[i];

        figures->bytes[pair->method] += pair->bytes;
        figures->pairs[pair->method]++;
    }
}

static void drop_figures(struct halo_view_figures *figures)
{
    nw_pattern_free(figures->pattern);
    free(figures->pair);
}

static nw_status find_figures(const struct nw_halo_view_of *view,
                              struct halo_view_figures *out)
{
    nw_pattern *trivial = NULL;
    nw_status status = nw_halo_layout_pattern(view->layout, &out->pattern);

    nw_halo_layout_summary(view->layout, &out->sum);
    nw_halo_layout_summary(view->trivial, &out->trivial);
    if (!status)
        status = nw_halo_layout_pattern(view->trivial, &trivial);
    if (!status)
        status = halo_view_congestion(view, view->layout, out->pattern,
                                      &out->seconds);
    if (!status)
        status = halo_view_congestion(view, view->trivial, trivial,
                                      &out->trivial_seconds);
    if (!status)
        status = nw_halo_layout_predict(view->layout, view->plan, &out->pair,
                                        &out->pair_count);
    if (!status)
        count_methods(out);
    nw_pattern_free(trivial);
    return status;
}

static const char *bytes_text(uint64_t bytes, char out[32])
{
    return nw_format_quantity((double)bytes, NW_UNIT_BYTES, out, 32);
}

static const char *time_text(double seconds, char out[32])
{
    return nw_format_quantity(seconds, NW_UNIT_TIME, out, 32);
}

static void tell_partition(struct nw_text *text,
                           const struct nw_halo_view_of *view,
                           const struct nw_halo_summary *sum)
{
    const int64_t *n = view->plan->extent;
    char a[32], b[32], c[32];

    nw_text_format(text, "domain     %lld x %lld x %lld\n", (long long)n[0],
                   (long long)n[1], (long long)n[2]);
    if (sum->node_grid[0])
        nw_text_format(text,
                       "partition  nodes [%d,%d,%d], slots [%d,%d,%d], %d "
                       "piece%s\n",
                       sum->node_grid[0], sum->node_grid[1], sum->node_grid[2],
                       sum->slot_grid[0], sum->slot_grid[1], sum->slot_grid[2],
                       nw_halo_layout_count(view->layout),
                       nw_plural((uint64_t)nw_halo_layout_count(view->layout)));
    else
        nw_text_format(text, "partition  uneven nodes, %d piece%s\n",
                       nw_halo_layout_count(view->layout),
                       nw_plural((uint64_t)nw_halo_layout_count(view->layout)));
    nw_text_format(
        text, "exchange   %s, %s of it between nodes, %s inside pieces\n",
        bytes_text(sum->bytes, a), bytes_text(sum->bytes_between_nodes, b),
        bytes_text(sum->bytes_self, c));
}

/* Returns a remark that says whether the search proved its placement to be the
 * best (or worst, if requested); "" if nothing was searched. */
static const char *halo_view_proof(const struct nw_halo_view_of *view,
                                   bool exact)
{
    bool best = view->plan->placement == NW_HALO_PLACE_BEST;

    if (!best && view->plan->placement != NW_HALO_PLACE_WORST)
        return "";
    if (!exact)
        return ", not proven";
    return best ? ", proven best" : ", proven worst";
}

static void tell_placement(struct nw_text *text,
                           const struct nw_halo_view_of *view,
                           const struct halo_view_figures *figures)
{
    const struct nw_halo_summary *sum = &figures->sum;
    char a[32], b[32];

    if (sum->slot_cost_trivial > 0)
        nw_text_format(text, "placement  %s in nodes, in order %s%s\n",
                       time_text(sum->slot_cost, a),
                       time_text(sum->slot_cost_trivial, b),
                       halo_view_proof(view, sum->exact));
    if (sum->node_cost_trivial > 0)
        nw_text_format(text, "network    %s, in order %s\n",
                       time_text(sum->node_cost, a),
                       time_text(sum->node_cost_trivial, b));
    if (figures->seconds > 0)
        nw_text_format(text, "predicted  %s, in order %s: %.0f %% less\n",
                       time_text(figures->seconds, a),
                       time_text(figures->trivial_seconds, b),
                       100 * (1 - figures->seconds / figures->trivial_seconds));
}

/* An exchange of halos s times as deep in every s-th step sends more bytes but
 * fewer messages per step than an exchange in each step. Returns the number of
 * bytes whose transfer must take as long as the latency of one message for both
 * to be equally fast. */
static double break_even(const struct nw_halo_view_of *view,
                         const struct halo_view_figures *figures)
{
    struct nw_halo_summary each;
    double steps = view->plan->interval, extra, messages = 0;

    nw_halo_layout_summary(view->each_step, &each);
    extra = (double)figures->sum.bytes / steps - (double)each.bytes;
    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++)
        messages += (double)figures->pairs[i];
    return extra / (messages * (1 - 1 / steps));
}

static void tell_interval(struct nw_text *text,
                          const struct nw_halo_view_of *view,
                          const struct halo_view_figures *figures)
{
    struct nw_halo_summary each;
    char a[32], b[32], c[32];
    double even;

    if (!view->each_step)
        return;
    nw_halo_layout_summary(view->each_step, &each);
    even = break_even(view, figures);
    nw_text_format(
        text,
        "interval   %d step%s: %s a step instead of %s; breaks even where a "
        "message costs as much as %s\n",
        view->plan->interval, nw_plural((uint64_t)view->plan->interval),
        bytes_text(figures->sum.bytes / (uint64_t)view->plan->interval, a),
        bytes_text(each.bytes, b),
        bytes_text((uint64_t)(even > 0 ? even : 0), c));
}

static void tell_methods(struct nw_text *text,
                         const struct halo_view_figures *figures)
{
    char a[32];

    nw_text_add(text, "\nmethod     pairs      bytes\n");
    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++)
        if (figures->pairs[i])
            nw_text_format(text, "%-10s %5lld %10s  %s\n",
                           nw_halo_method_name((enum nw_halo_method)i),
                           (long long)figures->pairs[i],
                           bytes_text(figures->bytes[i], a),
                           nw_halo_method_text((enum nw_halo_method)i));
}

static void tell_pieces(struct nw_text *text,
                        const struct nw_halo_view_of *view)
{
    int32_t count = nw_halo_layout_count(view->layout);

    nw_text_add(text, "\npiece  node  slot  cells\n");
    for (int32_t i = 0; i < count && i < MOST_LISTED; i++) {
        const struct nw_halo_piece *piece =
            nw_halo_layout_piece(view->layout, i);
        const struct nw_halo_box *box = &piece->box;

        nw_text_format(text,
                       "%5d %5d %5d  [%lld,%lld) x [%lld,%lld) x [%lld,%lld)\n",
                       i, piece->node, piece->slot, (long long)box->low[0],
                       (long long)box->high[0], (long long)box->low[1],
                       (long long)box->high[1], (long long)box->low[2],
                       (long long)box->high[2]);
    }
    if (count > MOST_LISTED)
        nw_text_format(text, "... and %d more\n", count - MOST_LISTED);
}

static void tell_pairs(struct nw_text *text,
                       const struct halo_view_figures *figures)
{
    char a[32], b[32];

    nw_text_add(text, "\n from    to      bytes       time  method\n");
    for (size_t i = 0; i < figures->pair_count; i++) {
        const struct nw_halo_prediction *pair = &figures->pair[i];

        nw_text_format(text, "%5d %5d %10s %10s  %s\n", pair->from, pair->to,
                       bytes_text(pair->bytes, a), time_text(pair->seconds, b),
                       nw_halo_method_name(pair->method));
    }
}

nw_status nw_cli_halo_table(const struct nw_halo_view_of *view, char **out)
{
    struct nw_text text = {0};
    struct halo_view_figures figures = {0};
    nw_status status = find_figures(view, &figures);

    if (!status) {
        tell_partition(&text, view, &figures.sum);
        tell_placement(&text, view, &figures);
        tell_interval(&text, view, &figures);
        tell_methods(&text, &figures);
        tell_pieces(&text, view);
        if (view->pairs)
            tell_pairs(&text, &figures);
        status = nw_text_take(&text, out);
    }
    nw_text_fini(&text);
    drop_figures(&figures);
    return status;
}

/* --- JSON --- */

static void json_grid(struct nw_json *json, const char *key,
                      const int32_t grid[3])
{
    nw_json_flat_array(json, key);
    for (int axis = 0; axis < 3; axis++)
        nw_json_integer(json, NULL, grid[axis]);
    nw_json_end_array(json);
}

static void json_cells(struct nw_json *json, const char *key,
                       const int64_t cells[3])
{
    nw_json_flat_array(json, key);
    for (int axis = 0; axis < 3; axis++)
        nw_json_integer(json, NULL, cells[axis]);
    nw_json_end_array(json);
}

static void json_sums(struct nw_json *json,
                      const struct halo_view_figures *figures)
{
    const struct nw_halo_summary *sum = &figures->sum;

    json_grid(json, "node_grid", sum->node_grid);
    json_grid(json, "slot_grid", sum->slot_grid);
    nw_json_unsigned(json, "bytes", sum->bytes);
    nw_json_unsigned(json, "bytes_between_nodes", sum->bytes_between_nodes);
    nw_json_unsigned(json, "bytes_self", sum->bytes_self);
    nw_json_number(json, "slot_cost", sum->slot_cost);
    nw_json_number(json, "slot_cost_trivial", sum->slot_cost_trivial);
    nw_json_number(json, "node_cost", sum->node_cost);
    nw_json_number(json, "node_cost_trivial", sum->node_cost_trivial);
    nw_json_bool(json, "exact", sum->exact);
    nw_json_unsigned(json, "steps", sum->steps);
    nw_json_number(json, "seconds", figures->seconds);
    nw_json_number(json, "seconds_trivial", figures->trivial_seconds);
}

static void json_pieces(struct nw_json *json,
                        const struct nw_halo_view_of *view)
{
    nw_json_array(json, "pieces");
    for (int32_t i = 0; i < nw_halo_layout_count(view->layout); i++) {
        const struct nw_halo_piece *piece =
            nw_halo_layout_piece(view->layout, i);

        nw_json_flat_object(json, NULL);
        nw_json_integer(json, "node", piece->node);
        nw_json_integer(json, "slot", piece->slot);
        json_cells(json, "low", piece->box.low);
        json_cells(json, "high", piece->box.high);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

static void json_pairs(struct nw_json *json,
                       const struct halo_view_figures *figures)
{
    nw_json_array(json, "pairs");
    for (size_t i = 0; i < figures->pair_count; i++) {
        const struct nw_halo_prediction *pair = &figures->pair[i];

        nw_json_flat_object(json, NULL);
        nw_json_integer(json, "from", pair->from);
        nw_json_integer(json, "to", pair->to);
        nw_json_unsigned(json, "bytes", pair->bytes);
        nw_json_string(json, "method", nw_halo_method_name(pair->method));
        nw_json_number(json, "seconds", pair->seconds);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

nw_status nw_cli_halo_json(const struct nw_halo_view_of *view, char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};
    struct halo_view_figures figures = {0};
    nw_status status = find_figures(view, &figures);

    if (!status) {
        nw_json_object(&json, NULL);
        nw_json_string(&json, "schema", "nodewise.halo.plan/1");
        json_cells(&json, "cells", view->plan->extent);
        json_sums(&json, &figures);
        if (view->each_step)
            nw_json_number(&json, "break_even_bytes_per_message",
                           break_even(view, &figures));
        json_pieces(&json, view);
        json_pairs(&json, &figures);
        nw_json_end_object(&json);
        status = nw_text_take(&text, out);
    }
    nw_text_fini(&text);
    drop_figures(&figures);
    return status;
}

/* --- drawing: a panel for each layer of subdomains along z --- */

#define PANEL 320.0
#define GAP 24.0
#define HEAD 60.0 /* height of the two lines of text above the panels */
#define MOST_PANELS 64

static void draw_piece(struct nw_text *text, const struct nw_halo_view_of *view,
                       const struct nw_halo_piece *piece, double left)
{
    const int64_t *n = view->plan->extent;
    double unit = PANEL / (double)(n[0] > n[1] ? n[0] : n[1]);
    const struct nw_halo_box *box = &piece->box;
    double x = left + unit * (double)box->low[0];
    double y = HEAD + unit * (double)box->low[1];
    double width = unit * (double)(box->high[0] - box->low[0]);
    double height = unit * (double)(box->high[1] - box->low[1]);

    nw_text_format(text,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                   "height=\"%.1f\" fill=\"hsl(%d,55%%,75%%)\" "
                   "stroke=\"#333\"><title>node %d, slot %d</title></rect>\n",
                   x, y, width, height, piece->node * 137 % 360, piece->node,
                   piece->slot);
    if (width > 24 && height > 14)
        nw_text_format(text,
                       "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">"
                       "%d.%d</text>\n",
                       x + width / 2, y + height / 2 + 4, piece->node,
                       piece->slot);
}

/* Returns the lowest z at which a subdomain begins, if it is at least `from`;
 * -1 if no subdomain begins there or above. */
static int64_t next_layer(const nw_halo_layout *layout, int64_t from)
{
    int64_t found = -1;

    for (int32_t i = 0; i < nw_halo_layout_count(layout); i++) {
        int64_t low = nw_halo_layout_piece(layout, i)->box.low[2];

        if (low >= from && (found < 0 || low < found))
            found = low;
    }
    return found;
}

nw_status nw_cli_halo_svg(const struct nw_halo_view_of *view, const char *path)
{
    const int64_t *n = view->plan->extent;
    struct nw_text body = {0}, text = {0};
    int64_t layer = next_layer(view->layout, 0);
    int panels = 0;
    nw_status status;

    for (; layer >= 0 && panels < MOST_PANELS; panels++) {
        double left = GAP + panels * (PANEL + GAP);

        nw_text_format(&body,
                       "<text x=\"%.1f\" y=\"%.0f\">from z = %lld</text>\n",
                       left, HEAD - 8, (long long)layer);
        for (int32_t i = 0; i < nw_halo_layout_count(view->layout); i++) {
            const struct nw_halo_piece *piece =
                nw_halo_layout_piece(view->layout, i);

            if (piece->box.low[2] == layer)
                draw_piece(&body, view, piece, left);
        }
        layer = next_layer(view->layout, layer + 1);
    }
    nw_text_format(&text,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
                   "%.0f %.0f\" font-family=\"sans-serif\" "
                   "font-size=\"12\">\n<title>pieces as node.slot</title>\n"
                   "<text x=\"%.0f\" y=\"16\">%lld x %lld x %lld cells, x to "
                   "the right, y down</text>\n<text x=\"%.0f\" y=\"32\">"
                   "each piece is labelled node.slot%s</text>\n",
                   GAP + panels * (PANEL + GAP), HEAD + PANEL + GAP, GAP,
                   (long long)n[0], (long long)n[1], (long long)n[2], GAP,
                   layer >= 0 ? "; layers above are not drawn" : "");
    nw_text_add(&text, body.data ? body.data : "");
    nw_text_add(&text, "</svg>\n");
    status = text.failed || body.failed ? nw_text_take(&text, &(char *){NULL})
                                        : nw_cli_picture_write(path, text.data);
    nw_text_fini(&body);
    nw_text_fini(&text);
    return status;
}
