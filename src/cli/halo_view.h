/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows a planned halo exchange as text, as JSON and as a drawing. */
#ifndef NW_CLI_HALO_VIEW_H
#define NW_CLI_HALO_VIEW_H

#include <nodewise/halo.h>

struct nw_halo_view_of {
    const struct nw_halo_options *plan;
    nw_topology *topology; /* the machine; NULL if unknown */
    nw_halo_layout *layout;
    /* Two layouts for comparison, which place the subdomains in rank order.
     * `each_step` exchanges ghost cells at each time step; NULL if `layout`
     * does so. */
    nw_halo_layout *trivial, *each_step;
    bool pairs; /* list all pairs of subdomains in the text table */
};

/* Make a text table or JSON; the caller frees *out. nw_cli_halo_svg writes a
 * drawing of up to 64 layers of subdomains to the file `path`. */
NW_MUST_CHECK nw_status nw_cli_halo_table(const struct nw_halo_view_of *view,
                                          char **out);
NW_MUST_CHECK nw_status nw_cli_halo_json(const struct nw_halo_view_of *view,
                                         char **out);
NW_MUST_CHECK nw_status nw_cli_halo_svg(const struct nw_halo_view_of *view,
                                        const char *path);

#endif
