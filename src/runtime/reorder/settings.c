/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/reorder/settings.h"

#include "base/text.h"
#include "runtime/warn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"off", "report", "on", "force"};

static int parse_mode(const char *word)
{
    for (int i = 0; i < 4; i++)
        if (!strcmp(word, modes[i]))
            return i;
    nw_warn_once("NODEWISE_REORDER is off, report, on or force, not '%s'",
                 word);
    return NW_REORDER_OFF;
}

int nw_cart_weights_parse(const char *words, double weight[NW_CART_WEIGHTS])
{
    int count = 0;

    while (*words && count < NW_CART_WEIGHTS) {
        char word[40];
        size_t length = strcspn(words, ",");

        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (length >= sizeof word || !nw_parse_double(word, &weight[count]) ||
            weight[count] < 0 || weight[count] > 1e9)
            return 0;
        count++;
        words += length;
        if (*words && !*++words)
            return 0;
    }
    return *words ? 0 : count;
}

static void read_gain(struct nw_reorder_settings *settings)
{
    const char *word = getenv("NODEWISE_REORDER_GAIN");
    double percent;

    settings->gain = 0.01;
    if (!word)
        return;
    if (!strcmp(word, "any"))
        settings->gain = -1e300;
    else if (nw_parse_double(word, &percent) && percent >= 0 && percent <= 100)
        settings->gain = percent / 100;
    else
        nw_warn_once("NODEWISE_REORDER_GAIN is a percentage, or any, not '%s'",
                     word);
}

static int parse_gather(const char *word)
{
    static const char *const words[] = {"auto", "rank", "node"};

    for (int i = 0; word && i < 3; i++)
        if (!strcmp(word, words[i]))
            return i;
    if (word && word[0])
        nw_warn_once("NODEWISE_GATHER is auto, rank or node, not '%s'", word);
    return NW_GATHER_AUTO;
}

static bool wants_gpus(void)
{
    const char *word = getenv("NODEWISE_GPU");

    if (!word || !word[0] || !strcmp(word, "off"))
        return false;
    if (strcmp(word, "assign"))
        nw_warn_once("NODEWISE_GPU is off or assign, not '%s'", word);
    return !strcmp(word, "assign");
}

void nw_reorder_settings_read(struct nw_reorder_settings *settings)
{
    const char *mode = getenv("NODEWISE_REORDER");
    const char *algorithm = getenv("NODEWISE_ALGORITHM");
    const char *weights = getenv("NODEWISE_CART_WEIGHTS");
    const char *check = getenv("NODEWISE_CHECK");

    memset(settings, 0, sizeof *settings);
    settings->mode = mode && mode[0] ? parse_mode(mode) : NW_REORDER_OFF;
    settings->gpus = wants_gpus();
    settings->gather = parse_gather(getenv("NODEWISE_GATHER"));
    settings->check = check && !strcmp(check, "1");
    snprintf(settings->algorithm, sizeof settings->algorithm, "%s",
             algorithm && algorithm[0] ? algorithm : "auto");
    read_gain(settings);
    if (weights && weights[0])
        settings->weight_count =
            nw_cart_weights_parse(weights, settings->weight);
    if (weights && weights[0] && !settings->weight_count)
        nw_warn_once("NODEWISE_CART_WEIGHTS is a list such as 3,1,1 and not "
                     "'%s'",
                     weights);
}

bool nw_reordering;
