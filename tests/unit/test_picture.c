/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of where the boxes and lines of a machine's picture are: every line can
 * be followed. */
#include "report/network_layout.h"
#include "report/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static nw_topology *load(const char *source)
{
    nw_topology *topology = NULL;

    if (nw_topology_load(source, NULL, &topology))
        fail_msg("%s", nw_error_text());
    return topology;
}

static bool is_device(uint8_t kind)
{
    return kind == NW_VERTEX_GPU || kind == NW_VERTEX_NIC ||
           kind == NW_VERTEX_CORE;
}

/* Checks that no other device is directly below the middle of a GPU. */
static void check_below(const struct nw_node_type *type,
                        const struct nw_node_layout *layout, int32_t gpu)
{
    double x = layout->x[gpu] + layout->width[gpu] / 2;

    for (int32_t v = 1; v < type->vertex_count; v++)
        if (is_device(type->kind[v]) && v != gpu &&
            layout->y[v] > layout->y[gpu] && layout->x[v] < x &&
            layout->x[v] + layout->width[v] > x)
            fail_msg("%s %d is below gpu %d",
                     nw_vertex_kind_name(type->kind[v]), type->index[v],
                     type->index[gpu]);
}

static void no_device_is_below_a_gpu_with_links(void **state)
{
    static const char *const machines[] = {
        "dgx-h100", "dgx-h100-rail:4", "gb200-nvl72:1", "mi300x:1", "summit"};

    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        nw_topology *t = load(machines[m]);
        const struct nw_node_type *type = t->type[0];
        struct nw_node_layout layout = {0};

        assert_int_equal(nw_node_layout_new(type, 10, &layout), NW_OK);
        assert_true(type->gpu_count > 1);
        for (int32_t g = 0; g < type->gpu_count; g++)
            check_below(type, &layout, type->gpu[g]);
        nw_node_layout_fini(&layout);
        nw_topology_free(t);
    }
}

/* Checks that each two links leave a switch at different places, in order. */
static void check_places(const struct nw_network *network,
                         const struct nw_network_layout *layout, int32_t s)
{
    for (int32_t l = 0; l < network->link_count; l++)
        for (int32_t k = 0; k < l; k++) {
            int32_t a = network->link_a[l] == s ? network->link_b[l]
                                                : network->link_a[l];
            int32_t b = network->link_a[k] == s ? network->link_b[k]
                                                : network->link_a[k];
            double x, y;

            if ((network->link_a[l] != s && network->link_b[l] != s) ||
                (network->link_a[k] != s && network->link_b[k] != s) ||
                layout->level[a] != layout->level[b])
                continue;
            x = nw_network_layout_place(network, layout, l, s);
            y = nw_network_layout_place(network, layout, k, s);
            assert_true(x >= y + 0.99 * layout->line_room ||
                        y >= x + 0.99 * layout->line_room);
            if (layout->switch_x[a] != layout->switch_x[b])
                assert_true((x < y) ==
                            (layout->switch_x[a] < layout->switch_x[b]));
        }
}

static void links_leave_a_switch_apart(void **state)
{
    static const char *const machines[] = {"dgx-h100-rail:4", "wilkes:40",
                                           "rashti-32"};

    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        nw_topology *t = load(machines[m]);
        struct nw_network_layout layout = {0};

        assert_int_equal(nw_network_layout_new(t, 100, 100, &layout), NW_OK);
        assert_true(layout.line_room > 1);
        for (int32_t s = 0; s < t->network->switch_count; s++)
            check_places(t->network, &layout, s);
        nw_network_layout_fini(&layout);
        nw_topology_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_device_is_below_a_gpu_with_links),
        cmocka_unit_test(links_leave_a_switch_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
