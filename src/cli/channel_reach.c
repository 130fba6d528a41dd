/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise channel reach: opens a channel to this process through each
 * provider. The provider tries how its adapter reads and writes GPU memory; the
 * command prints the result. */
#include "cli/channel_reach.h"

#include <nodewise/channel.h>

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answer of nw_channel_reach, such as "by dma-buf (why)", in two parts. */
struct channel_reach_answer {
    char reach[64], why[512];
};

static void channel_reach_divide(const char *text,
                                 struct channel_reach_answer *out)
{
    const char *why = strstr(text, " (");
    size_t length = why ? (size_t)(why - text) : strlen(text);

    snprintf(out->reach, sizeof out->reach, "%.*s", (int)length, text);
    snprintf(out->why, sizeof out->why, "%s", why ? why + 2 : "");
    if (why)
        out->why[strlen(out->why) - 1] = '\0';
}

static void channel_reach_ask(const char *provider,
                              struct channel_reach_answer *out)
{
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;

    options.count = 1;
    options.provider = provider;
    if (nw_channel_open(&options, &channel)) {
        *out = (struct channel_reach_answer){.reach = "absent"};
        snprintf(out->why, sizeof out->why, "%s", nw_error_text());
        return;
    }
    channel_reach_divide(nw_channel_reach(channel, 0), out);
    nw_channel_close(channel);
}

static void channel_reach_tell(const char *provider, struct nw_text *text,
                               struct nw_json *json)
{
    struct channel_reach_answer answer;

    channel_reach_ask(provider, &answer);
    nw_text_format(text, "%s: %s%s%s\n", provider, answer.reach,
                   answer.why[0] ? ": " : "", answer.why);
    nw_json_object(json, NULL);
    nw_json_string(json, "provider", provider);
    nw_json_string(json, "reach", answer.reach);
    nw_json_string(json, "why", answer.why);
    nw_json_end_object(json);
}

static int tell_all(const struct nw_common *common, const char *provider)
{
    static const char *const adapters[] = {"verbs;ofi_rxm", "efa", "cxi"};
    struct nw_text text = {0}, written = {0};
    struct nw_json json = {.text = &written};
    char *result = NULL, *said = NULL;
    nw_status status;
    int code;

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.channel-reach/1");
    nw_json_array(&json, "providers");
    for (size_t i = 0; i < (provider ? 1 : sizeof adapters / sizeof *adapters);
         i++)
        channel_reach_tell(provider ? provider : adapters[i], &text, &json);
    nw_json_end_array(&json);
    nw_json_end_object(&json);
    status = nw_text_take(&text, &result);
    if (!status)
        status = nw_text_take(&written, &said);
    code = status ? nw_cli_fail("channel", status)
                  : nw_cli_output_table("channel", common, result, said);
    free(result);
    free(said);
    return code;
}

int nw_cli_channel_reach(const struct nw_common *common, const char *provider)
{
    void *memory = NULL;
    nw_status status = nw_channel_memory_new(true, 1, &memory);

    if (status)
        return nw_cli_fail("channel", status);
    nw_channel_memory_free(true, memory);
    return tell_all(common, provider);
}
