/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise doctor: lists the software and devices that this machine has or
 * lacks, and the features that need each missing piece. */
#include "cli/doctor.h"

#include "base/environment.h"
#include "base/json.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#define KEY_ENV 0x2001

struct doctor_arguments {
    struct nw_common common;
    bool environment;
};

static const struct argp_option options[] = {
    {"env", KEY_ENV, NULL, 0,
     "List the NODEWISE_ variables, with their values here", 0},
    {0},
};

static const struct nw_common_help doctor_help = {
    .output = NW_COMMON_OUTPUT,
    .json = NW_COMMON_JSON,
};

static error_t doctor_parse(int key, char *value, struct argp_state *state)
{
    struct doctor_arguments *arguments = state->input;

    (void)value;
    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &doctor_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_ENV:
        arguments->environment = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = doctor_parse,
    .doc = "List the software and devices that this machine has or lacks, with "
           "the features "
           "that need each missing part.\vExample:\n  nodewise doctor\n",
    .children = nw_common_children,
};

static const char *const states[] = {"here", "missing", "denied"};

/* Appends an item to the text: what was found or why nothing was, and then, if
 * it is missing or denied, which features need it. */
static void add_line(struct nw_text *table, const struct nw_check *check,
                     enum nw_finding found, const char *detail)
{
    static const char marks[] = {'+', '-', '!'};

    nw_text_format(table, "  %c %-22s ", marks[found], check->name);
    nw_text_add_shown(table, *detail ? detail : states[found]);
    nw_text_add(table, "\n");
    if (found != NW_FOUND)
        nw_text_format(table, "    %22s needed for: %s\n", "", check->gives);
}

static void add_object(struct nw_json *json, const struct nw_check *check,
                       enum nw_finding found, const char *detail)
{
    nw_json_object(json, NULL);
    nw_json_string(json, "section", check->section);
    nw_json_string(json, "name", check->name);
    nw_json_string(json, "state", states[found]);
    nw_json_string(json, "detail", detail);
    nw_json_string(json, "gives", check->gives);
    nw_json_end_object(json);
}

/* Runs all checks and adds their results to the text and to the JSON object. */
static void doctor_examine(struct nw_text *table, struct nw_json *json)
{
    const char *section = "";

    nw_json_array(json, "findings");
    for (size_t i = 0; i < nw_check_count; i++) {
        const struct nw_check *check = &nw_checks[i];
        struct nw_text detail = {0};
        enum nw_finding found = check->look(check->what, &detail);
        const char *text = detail.data ? detail.data : "";

        if (strcmp(section, check->section))
            nw_text_format(table, "%s%s\n", *section ? "\n" : "",
                           check->section);
        section = check->section;
        add_line(table, check, found, text);
        add_object(json, check, found, text);
        nw_text_fini(&detail);
    }
    nw_json_end_array(json);
}

static void list_variables(struct nw_text *table, struct nw_json *json)
{
    nw_json_array(json, "variables");
    for (const struct nw_variable *v = nw_environment; v->name; v++) {
        const char *value = getenv(v->name);

        nw_text_format(table, "%s=%s\n    %s\n    %s", v->name, v->value,
                       v->meaning, value ? "now: " : "not set");
        nw_text_add_shown(table, value ? value : "");
        nw_text_add(table, "\n");
        nw_json_object(json, NULL);
        nw_json_string(json, "name", v->name);
        nw_json_string(json, "values", v->value);
        nw_json_string(json, "meaning", v->meaning);
        if (value)
            nw_json_string(json, "value", value);
        else
            nw_json_null(json, "value");
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

static int doctor_run(int argc, char **argv)
{
    struct doctor_arguments arguments = {0};
    struct nw_text table = {0}, text = {0};
    struct nw_json json = {.text = &text};
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.doctor/1");
    if (arguments.environment)
        list_variables(&table, &json);
    else
        doctor_examine(&table, &json);
    nw_json_end_object(&json);
    code =
        nw_cli_output_table("doctor", &arguments.common, table.data, text.data);
    nw_text_fini(&table);
    nw_text_fini(&text);
    return code;
}

const struct nw_command nw_command_doctor = {
    "doctor", "list the software and devices that this machine has or lacks",
    &argp, doctor_run};
