/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what the MPI library defines, behind ourselves. */
#include "runtime/flavour.h"

#include "runtime/warn.h"

#include <dlfcn.h>
#include <stddef.h>

/* A program that loads its MPI privately (an interpreter's module) has it
 * outside of the order in which RTLD_NEXT searches. */
#ifdef OPEN_MPI
static const char *const library_names[] = {"libmpi.so.40", "libmpi.so"};
#else
static const char *const library_names[] = {
    "libmpich.so.12",    "libmpi.so.12",      "libmpi_gnu_123.so.12",
    "libmpi_gnu.so.12",  "libmpi_cray.so.12", "libmpi_nvidia.so.12",
    "libmpi_intel.so.12"};
#endif

static void *find_in(const char *name, int how)
{
    void *found = NULL;

    for (size_t i = 0; !found && i < sizeof library_names / sizeof(char *);
         i++) {
        void *library = dlopen(library_names[i], RTLD_LAZY | how);

        if (!library)
            continue;
        found = dlsym(library, name);
        if (how & RTLD_NOLOAD)
            dlclose(library);
    }
    return found;
}

/* A program linked with us in front of its MPI may have lost that: we define
 * all that it calls, and some linkers drop what they find unneeded. Where no
 * MPI is loaded, the first there is becomes the program's. */
static void *find_private(const char *name)
{
    void *found = find_in(name, RTLD_NOLOAD);

    return found ? found : find_in(name, RTLD_GLOBAL);
}

/* A program may hold the library's data itself (copy relocation), so data is
 * searched from the front. */
void *nw_mpi_data(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    return found ? found : find_private(name);
}

static int answer_no_such_call(void)
{
    return MPI_ERR_INTERN;
}

void *nw_next_call(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        found = find_private(name);
    if (found)
        return found;
    nw_warn_once("%s is not in the MPI library that was found", name);
    return (void *)answer_no_such_call;
}
