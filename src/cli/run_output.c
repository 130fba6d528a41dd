/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run_output.h"
#include "cli/cost_view.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>

static void put_command(struct nw_text *text,
                        const struct nw_run_account *account)
{
    for (char *const *name = account->variable; name && *name; name++) {
        nw_text_add_variable(text, *name);
        nw_text_add(text, " ");
    }
    for (char *const *word = account->word; *word; word++) {
        nw_text_add_word(text, *word);
        nw_text_add(text, word[1] ? " " : "\n");
    }
}

static void put_variables(struct nw_json *json, char *const *variable)
{
    nw_json_object(json, "environment");
    for (; variable && *variable; variable++) {
        const char *value = strchr(*variable, '=');
        struct nw_text name = {0};

        nw_text_add_bytes(&name, *variable, (size_t)(value - *variable));
        nw_json_string(json, name.data, value + 1);
        nw_text_fini(&name);
    }
    nw_json_end_object(json);
}

static void put_plan(struct nw_json *json, const struct nw_run_plan *plan)
{
    nw_json_string(json, "topology", plan->known_by);
    nw_json_bool(json, "ranks_share_cores", plan->oversubscribed);
    if (plan->before > 0 && plan->after > 0) {
        nw_json_number(json, "default_time", plan->before);
        nw_json_number(json, "time", plan->after);
    }
    if (plan->has_headline)
        nw_cli_headline_json(json, &plan->headline);
}

static void put_seconds(struct nw_json *json, const char *key,
                        const double *seconds, size_t count)
{
    nw_json_flat_array(json, key);
    for (size_t i = 0; i < count; i++)
        nw_json_number(json, NULL, seconds[i]);
    nw_json_end_array(json);
}

static void put_comparison(struct nw_json *json,
                           const struct nw_comparison *comparison)
{
    nw_json_object(json, "measured");
    put_seconds(json, "default", comparison->seconds[0], comparison->rounds);
    put_seconds(json, "mapped", comparison->seconds[1], comparison->rounds);
    if (comparison->rounds) {
        nw_json_number(json, "speedup", comparison->speedup);
        nw_json_number(json, "least", comparison->least);
        nw_json_number(json, "most", comparison->most);
    }
    nw_json_end_object(json);
}

static void run_tell_put_json(struct nw_text *text, const struct nw_job *job,
                              const struct nw_run_account *account)
{
    struct nw_json json = {.text = text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.run/1");
    nw_json_string(&json, "action", account->action);
    if (account->why)
        nw_json_string(&json, "why", account->why);
    nw_json_integer(&json, "ranks", job->ranks);
    nw_json_unsigned(&json, "hosts", job->host.count);
    if (account->plan)
        put_plan(&json, account->plan);
    if (account->comparison)
        put_comparison(&json, account->comparison);
    put_variables(&json, account->variable);
    nw_json_flat_array(&json, "command");
    for (char *const *word = account->word; *word; word++)
        nw_json_string(&json, NULL, *word);
    nw_json_end_array(&json);
    nw_json_end_object(&json);
}

nw_status nw_run_tell(const struct nw_job *job,
                      const struct nw_run_account *account, bool as_json,
                      const char *path)
{
    struct nw_text text = {0};

    if (as_json)
        run_tell_put_json(&text, job, account);
    else
        put_command(&text, account);
    return nw_file_write_text(path ? path : "-", &text);
}
