/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of nodewise map, each with a sentence. */
#include "cli/map_list.h"

#include <nodewise/map.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/rowcol.h"

int nw_cli_map_list(const struct nw_common *common)
{
    struct nw_text table = {0}, json_text = {0};
    struct nw_json json = {.text = &json_text};
    const char *name, *summary;
    int code;

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.map/1");
    nw_json_object(&json, "algorithms");
    for (size_t i = 0; nw_map_algorithm(i, &name, &summary); i++) {
        nw_text_format(&table, "%-18s %s\n", name, summary);
        nw_json_string(&json, name, summary);
    }
    nw_text_format(&table, "%-18s %s\n", "rowcol", NW_ROWCOL_SUMMARY);
    nw_json_string(&json, "rowcol", NW_ROWCOL_SUMMARY);
    nw_json_end_object(&json);
    nw_text_format(&table, "\nphases: %s\n", nw_map_phase_names());
    nw_json_string(&json, "phases", nw_map_phase_names());
    nw_json_end_object(&json);
    code = nw_cli_output("map", common, table.data, NULL, json_text.data);
    nw_text_fini(&table);
    nw_text_fini(&json_text);
    return code;
}
