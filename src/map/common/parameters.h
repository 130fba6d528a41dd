/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuned parameters of the mapping engine: one struct for each part of the
 * engine, filled from parameters.def. The compiler treats them as constants. A
 * parameter that depends on the effort is an array indexed by enum nw_effort.
 */
#ifndef NW_MAP_COMMON_PARAMETERS_H
#define NW_MAP_COMMON_PARAMETERS_H

#include <nodewise/map.h>

#define BEGIN(engine, about, source) struct nw_tuned_##engine {
#define ONE(type, name, value, sentence) type name;
#define EACH(type, name, fast, standard, strong, sentence) type name[3];
#define END(engine)                                                            \
    }                                                                          \
    ;
#include "map/common/parameters.def"
#undef BEGIN
#undef ONE
#undef EACH
#undef END

struct nw_tuned {
#define BEGIN(engine, about, source) struct nw_tuned_##engine engine;
#define ONE(type, name, value, sentence)
#define EACH(type, name, fast, standard, strong, sentence)
#define END(engine)
#include "map/common/parameters.def"
#undef BEGIN
#undef ONE
#undef EACH
#undef END
};

__attribute__((unused)) static const struct nw_tuned nw_tuned = {
#define BEGIN(engine, about, source) .engine = {
#define ONE(type, name, value, sentence) .name = (value),
#define EACH(type, name, fast, standard, strong, sentence)                     \
    .name = {[NW_EFFORT_FAST] = (fast),                                        \
             [NW_EFFORT_DEFAULT] = (standard),                                 \
             [NW_EFFORT_STRONG] = (strong)},
#define END(engine)                                                            \
    }                                                                          \
    ,
#include "map/common/parameters.def"
#undef BEGIN
#undef ONE
#undef EACH
#undef END
};

#endif
