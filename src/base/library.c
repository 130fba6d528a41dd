/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads shared libraries with dlopen at their first use, so that programs that
 * do not need them start quickly. */
#include "base/library.h"
#include "base/status.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Stores a function's address unless it is already stored: another thread may
 * be calling the function through this pointer. */
static void base_library_set(void *address, void *found)
{
    void *known;

    memcpy(&known, address, sizeof known);
    if (known != found)
        memcpy(address, &found, sizeof found);
}

static nw_status base_library_load(const char *soname,
                                   const struct nw_symbol *symbols,
                                   size_t count, const char *purpose)
{
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        return nw_fail(NW_ENODEV, "%s is needed %s and was not found", soname,
                       purpose);
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(handle, symbols[i].name);

        if (!found)
            return nw_fail(NW_ENODEV, "%s has no %s, needed %s", soname,
                           symbols[i].name, purpose);
        base_library_set(symbols[i].address, found);
    }
    return NW_OK;
}

nw_status nw_library_load(const char *soname, const struct nw_symbol *symbols,
                          size_t count, const char *purpose)
{
    nw_status status;

    (void)pthread_mutex_lock(&lock);
    status = base_library_load(soname, symbols, count, purpose);
    (void)pthread_mutex_unlock(&lock);
    return status;
}
