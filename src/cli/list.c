/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/list.h"

#include "base/json.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

int nw_cli_list(const struct nw_cli_list *list, const struct nw_common *common)
{
    struct nw_text table = {0}, json_text = {0};
    struct nw_json json = {.text = &json_text};
    const char *name, *summary;
    char schema[64];
    int code, width = 0;

    snprintf(schema, sizeof schema, "nodewise.%s/1", list->command);
    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", schema);
    nw_json_object(&json, list->key);
    for (size_t i = 0; list->name(i, &name, &summary); i++)
        width = (int)strlen(name) > width ? (int)strlen(name) : width;
    for (size_t i = 0; list->name(i, &name, &summary); i++) {
        nw_text_format(&table, "%-*s %s\n", width, name, summary);
        nw_json_string(&json, name, summary);
    }
    nw_json_end_object(&json);
    if (list->more) {
        nw_text_format(&table, "\n%s: %s\n", list->more_key, list->more);
        nw_json_string(&json, list->more_key, list->more);
    }
    nw_json_end_object(&json);
    code =
        nw_cli_output_table(list->command, common, table.data, json_text.data);
    nw_text_fini(&table);
    nw_text_fini(&json_text);
    return code;
}
