/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/parameters.h"

#include "base/json.h"
#include "base/text.h"

#include <nodewise/map.h>
#include <stdio.h>

/* Returns true if the value differs between the levels of --effort. */
static bool parameters_depend_on_effort(const struct nw_map_parameter *at)
{
    return at->value[NW_EFFORT_FAST] != at->value[NW_EFFORT_DEFAULT] ||
           at->value[NW_EFFORT_STRONG] != at->value[NW_EFFORT_DEFAULT];
}

static void parameters_add_row(struct nw_text *table,
                               const struct nw_map_parameter *at)
{
    char value[80];

    if (parameters_depend_on_effort(at))
        snprintf(value, sizeof value, "%.10g/%.10g/%.10g",
                 at->value[NW_EFFORT_FAST], at->value[NW_EFFORT_DEFAULT],
                 at->value[NW_EFFORT_STRONG]);
    else
        snprintf(value, sizeof value, "%.10g", at->value[NW_EFFORT_DEFAULT]);
    nw_text_format(table, "  %-25s %10s  %s\n", at->name, value, at->meaning);
}

static void parameters_add_json(struct nw_json *json,
                                const struct nw_map_parameter *at)
{
    nw_json_object(json, NULL);
    nw_json_string(json, "engine", at->engine);
    nw_json_string(json, "name", at->name);
    nw_json_number(json, "fast", at->value[NW_EFFORT_FAST]);
    nw_json_number(json, "default", at->value[NW_EFFORT_DEFAULT]);
    nw_json_number(json, "strong", at->value[NW_EFFORT_STRONG]);
    nw_json_string(json, "meaning", at->meaning);
    nw_json_string(json, "source", at->source);
    nw_json_end_object(json);
}

int nw_cli_parameters(const struct nw_common *common)
{
    struct nw_text table = {0}, text = {0};
    struct nw_json json = {.text = &text};
    struct nw_map_parameter at;
    const char *engine = NULL;
    int code;

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.map/1");
    nw_json_array(&json, "parameters");
    nw_text_add(&table, "Three values are those of --effort fast, default and "
                        "strong.\n");
    for (size_t i = 0; nw_map_parameter_get(i, &at); i++) {
        if (at.engine != engine)
            nw_text_format(&table, "\n%s: %s\n  measured in %s\n", at.engine,
                           at.about, at.source);
        engine = at.engine;
        parameters_add_row(&table, &at);
        parameters_add_json(&json, &at);
    }
    nw_json_end_array(&json);
    nw_json_end_object(&json);
    code = nw_cli_output_table("map", common, table.data, text.data);
    nw_text_fini(&table);
    nw_text_fini(&text);
    return code;
}
