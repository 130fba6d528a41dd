/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of libm that the command uses, found at their first use: a rank
 * that starts as `nodewise exec` needs none of them, and is spared the loading
 * of the library. Names and answers are libm's own. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(const char *name)
{
    void *library = dlopen("libm.so.6", RTLD_LAZY);
    void *function = library ? dlsym(library, name) : NULL;

    if (!function) {
        fprintf(stderr, "nodewise: libm.so.6 has no '%s'\n", name);
        exit(4);
    }
    return function;
}

/* Threads that come at once find the same. */
#define ONE(type, name)                                                        \
    type name(double x)                                                        \
    {                                                                          \
        static type (*_Atomic found)(double);                                  \
                                                                               \
        if (!found)                                                            \
            found = (type(*)(double))find(#name);                              \
        return found(x);                                                       \
    }

#define TWO(name)                                                              \
    double name(double x, double y)                                            \
    {                                                                          \
        static double (*_Atomic found)(double, double);                        \
                                                                               \
        if (!found)                                                            \
            found = (double (*)(double, double))find(#name);                   \
        return found(x, y);                                                    \
    }

ONE(double, cbrt)
ONE(double, ceil)
ONE(double, exp)
ONE(double, floor)
ONE(double, log)
ONE(double, log2)
ONE(long long, llround)
ONE(long, lround)
ONE(double, nearbyint)
ONE(double, round)
ONE(double, sqrt)
TWO(fmax)
TWO(fmin)
TWO(pow)
