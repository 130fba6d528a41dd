/* SPDX-License-Identifier: BSD-3-Clause */
/* dlopen at first use keeps the preloaded libraries light and quick. */
#include "base/library.h"
#include "base/status.h"

#include <dlfcn.h>
#include <string.h>

nw_status nw_library_load(const char *soname, const struct nw_symbol *symbols,
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
        memcpy(symbols[i].address, &found, sizeof found);
    }
    return NW_OK;
}
