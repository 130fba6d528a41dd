/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks a synthetic description such as "package:2 core:4
 * pu:1(indexes=0,2,...)" before hwloc reads it. hwloc multiplies the sizes of
 * the levels before it checks them. If `indexes` (an order of numbers) has a
 * number that is too large, hwloc fails an assertion, fills the memory or reads
 * uninitialised data. hwloc silently ignores an order that it cannot follow.
 */
#include "base/array.h"
#include "base/status.h"
#include "topology/hwloc/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A node with more objects in one level is certainly a mistake. hwloc needs
 * memory for the square of this number. */
#define MAX_OBJECTS 16384
#define MAX_LEVELS 64
/* largest number of a hardware thread or NUMA node */
#define MAX_NUMBER 65535

/* The state while a description is checked. */
struct synthetic_reading {
    const char *what;
    hwloc_obj_type_t type[MAX_LEVELS]; /* kinds of the levels read so far */
    hwloc_obj_type_t next;             /* kind of the next level, or TYPE_MAX */
    size_t levels;
    uint64_t width; /* number of objects in the last level */
    bool beside;    /* inside brackets, which describe memory */
};

/* Reads a number into *out and moves *words past it. Returns false if *words
 * does not begin with a number or the number is larger than `limit`. */
static bool take_number(const char **words, uint64_t limit, uint64_t *out)
{
    size_t digits = strspn(*words, "0123456789");

    if (!digits || digits > 18)
        return false;
    *out = strtoull(*words, NULL, 10);
    *words += digits;
    return *out <= limit;
}

static nw_status synthetic_refuse(const struct synthetic_reading *reading,
                                  const char *order, const char *why)
{
    return nw_fail(NW_EFORMAT, "hwloc: '%s': indexes=%.*s %s", reading->what,
                   (int)strcspn(order, " )"), order, why);
}

/* Checks a list of numbers such as "0,2,1,3": no number may occur twice and,
 * except in brackets, there must be one number for each object of the level. */
static nw_status check_list(const struct synthetic_reading *reading,
                            const char *order)
{
    uint64_t number, count = 0;
    const char *at = order, *wrong = NULL;
    bool *seen;
    nw_status status = nw_alloc(MAX_NUMBER + 1, sizeof *seen, &seen);

    if (status)
        return status;
    do {
        if (!take_number(&at, MAX_NUMBER, &number))
            wrong = "has a word that is not a number up to 65535";
        else if (seen[number])
            wrong = "has a number twice";
        else
            seen[number] = true;
        count++;
    } while (!wrong && *at++ == ',');
    free(seen);
    if (!wrong && !reading->beside && count != reading->width)
        wrong = "has not one number for each of the level";
    return wrong ? synthetic_refuse(reading, order, wrong) : NW_OK;
}

/* Checks an order such as "2*4:1*2", a list of STEP*COUNT. A missing last item
 * is valid, since hwloc adds it. */
static nw_status check_steps(const struct synthetic_reading *reading,
                             const char *order)
{
    uint64_t step, count, product = 1;
    const char *at = order;

    do {
        bool good = take_number(&at, MAX_OBJECTS, &step) && step &&
                    *at++ == '*' && take_number(&at, MAX_OBJECTS, &count) &&
                    count;

        if (!good || (product *= count) > MAX_OBJECTS)
            return synthetic_refuse(reading, order,
                                    "is not a list of STEP*COUNT:...");
    } while (*at++ == ':');
    return NW_OK;
}

static bool is_above(const struct synthetic_reading *reading,
                     hwloc_obj_type_t type)
{
    for (size_t i = 0; i < reading->levels; i++)
        if (reading->type[i] == type)
            return type != HWLOC_OBJ_PU && type != HWLOC_OBJ_GROUP;
    return false;
}

/* Checks an order of level names such as "package:core". Each name must be a
 * level that was already read: for a level that comes later, hwloc would search
 * endlessly. */
static nw_status check_names(const struct synthetic_reading *reading,
                             const char *order)
{
    bool seen[HWLOC_OBJ_TYPE_MAX] = {false};
    const char *at = order;

    do {
        hwloc_obj_type_t type;

        if (hwloc_type_sscanf(at, &type, NULL, 0) || !is_above(reading, type))
            return synthetic_refuse(
                reading, order,
                "names a level that is not above hardware threads; "
                "STEP*COUNT:... can express any order");
        if (seen[type])
            return synthetic_refuse(reading, order, "names a level twice");
        seen[type] = true;
        at += strcspn(at, ": )");
    } while (*at++ == ':');
    return NW_OK;
}

static nw_status synthetic_check_order(const struct synthetic_reading *reading,
                                       const char *order)
{
    size_t length = strcspn(order, " )");

    if (length && strspn(order, "0123456789,") == length)
        return check_list(reading, order);
    if (isdigit((unsigned char)*order))
        return check_steps(reading, order);
    return check_names(reading, order);
}

/* Checks the text inside a pair of parentheses. */
static nw_status check_attributes(const struct synthetic_reading *reading,
                                  const char *words)
{
    static const char key[] = "indexes=";
    nw_status status = NW_OK;

    while (!status && *words && *words != ')') {
        if (!strncmp(words, key, strlen(key)))
            status = synthetic_check_order(reading, words + strlen(key));
        words += strcspn(words, " )");
        words += *words == ' ';
    }
    return status;
}

/* Adds a level. The number in `digits` is that of its objects in each object of
 * the level above. Fails if the node would have too many levels or objects. */
static nw_status synthetic_add_level(struct synthetic_reading *reading,
                                     const char *digits)
{
    uint64_t count;

    if (!take_number(&digits, MAX_OBJECTS, &count) || !count ||
        reading->levels == MAX_LEVELS || reading->width * count > MAX_OBJECTS)
        return nw_fail(NW_EFORMAT,
                       "hwloc: '%s' has a level of none or a machine of more "
                       "than %d objects",
                       reading->what, MAX_OBJECTS);
    reading->width *= count;
    reading->type[reading->levels++] = reading->next;
    reading->next = HWLOC_OBJ_TYPE_MAX;
    return NW_OK;
}

/* Returns true if the last level has a kind and it is not hardware threads.
 * Levels without a kind get one from hwloc, and the last of them becomes
 * hardware threads. */
static bool is_coarse(hwloc_obj_type_t type)
{
    return type != HWLOC_OBJ_TYPE_MAX && type != HWLOC_OBJ_PU;
}

nw_status nw_hwloc_check_synthetic(const char *what, bool *threads)
{
    struct synthetic_reading reading = {
        .what = what, .next = HWLOC_OBJ_TYPE_MAX, .width = 1};
    nw_status status = NW_OK;

    for (const char *at = what; *at && !status; at++) {
        bool starts = at == what || strchr(" :])", at[-1]);

        if (*at == '[' || *at == ']')
            reading.beside = *at == '[';
        else if (*at == '(') {
            status = check_attributes(&reading, at + 1);
            at += strcspn(at, ")");
            if (!*at)
                break;
        } else if (!reading.beside && starts && isdigit((unsigned char)*at))
            status = synthetic_add_level(&reading, at);
        else if (!reading.beside && starts && isalpha((unsigned char)*at))
            (void)hwloc_type_sscanf(at, &reading.next, NULL, 0);
    }
    if (!status)
        *threads =
            !reading.levels || !is_coarse(reading.type[reading.levels - 1]);
    return status;
}
