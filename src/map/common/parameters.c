/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives access to the table of tuned numbers, which nodewise map
 * --show-parameters prints. */
#include "map/common/parameters.h"

static const struct nw_map_parameter parameters_all[] = {
#define BEGIN(engine, about, source)                                           \
    {#engine, about, NULL, {0}, NULL, "bench/results/" source},
#define ONE(type, name, value, sentence)                                       \
    {                                                                          \
        NULL,     NULL,                                                        \
        #name,    {(double)(value), (double)(value), (double)(value)},         \
        sentence, NULL},
#define EACH(type, name, fast, standard, strong, sentence)                     \
    {NULL,                                                                     \
     NULL,                                                                     \
     #name,                                                                    \
     {[NW_EFFORT_FAST] = (double)(fast),                                       \
      [NW_EFFORT_DEFAULT] = (double)(standard),                                \
      [NW_EFFORT_STRONG] = (double)(strong)},                                  \
     sentence,                                                                 \
     NULL},
#define END(engine)
#include "map/common/parameters.def"
#undef BEGIN
#undef ONE
#undef EACH
#undef END
};

bool nw_map_parameter_get(size_t index, struct nw_map_parameter *out)
{
    const struct nw_map_parameter *engine = NULL;

    for (size_t i = 0; i < sizeof parameters_all / sizeof *parameters_all;
         i++) {
        if (parameters_all[i].engine) {
            engine = &parameters_all[i];
        } else if (index-- == 0) {
            *out = parameters_all[i];
            out->engine = engine->engine;
            out->about = engine->about;
            out->source = engine->source;
            return true;
        }
    }
    return false;
}
