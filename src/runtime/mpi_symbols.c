/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up functions and data of the MPI library, and checks that the library
 * has the ABI that this file was compiled for. */
#include "runtime/mpi_symbols.h"

#include "base/array.h"
#include "base/hash.h"
#include "runtime/warn.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool nw_foreign;

#define ABI_NAME "the MPI standard ABI"
#ifdef NW_MODEL_MPIABI
#define OWN_NAME ABI_NAME
#define OWN_WORD "mpiabi"
static const char *const library_names[] = {"libmpi_abi.so.1",
                                            "libmpi_abi.so.0"};
#elif defined OPEN_MPI
#define OWN_NAME "Open MPI"
#define OWN_WORD "openmpi"
static const char *const library_names[] = {"libmpi.so.40", "libmpi.so"};
#else
#define OWN_NAME "MPICH"
#define OWN_WORD "mpich"
static const char *const library_names[] = {
    "libmpich.so.12",    "libmpi.so.12",      "libmpi_gnu_123.so.12",
    "libmpi_gnu.so.12",  "libmpi_cray.so.12", "libmpi_nvidia.so.12",
    "libmpi_intel.so.12"};
#endif

/* --- an MPI library outside the search order of RTLD_NEXT --- */

struct loaded {
    const char **name;
    size_t count, capacity;
};

static int note_loaded(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct loaded *loaded = context;

    (void)bytes;
    if (!info->dlpi_name || !info->dlpi_name[0])
        return 0;
    if (nw_grow(&loaded->name, &loaded->capacity, loaded->count + 1,
                sizeof *loaded->name))
        return 1;
    loaded->name[loaded->count++] = info->dlpi_name;
    return 0;
}

static bool is_own(void *function)
{
    Dl_info its = {0}, ours = {0};

    return dladdr(function, &its) && dladdr((void *)&nw_foreign, &ours) &&
           its.dli_fbase == ours.dli_fbase;
}

/* Returns a dlopen handle of the loaded library `object` if PMPI_Init is found
 * through that handle and is not our own wrapper; else NULL. */
static void *open_with_mpi(const char *object)
{
    void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
    void *function = handle ? dlsym(handle, "PMPI_Init") : NULL;

    if (function && !is_own(function))
        return handle;
    if (handle)
        dlclose(handle);
    return NULL;
}

/* Finds a loaded MPI library that RTLD_NEXT does not search, for example
 * because a Python module loaded it with RTLD_LOCAL. Returns a dlopen handle,
 * or NULL. */
static void *find_loaded(void)
{
    struct loaded loaded = {0};
    void *handle = NULL;

    (void)dl_iterate_phdr(note_loaded, &loaded);
    for (size_t i = 0; !handle && i < loaded.count; i++)
        handle = open_with_mpi(loaded.name[i]);
    free(loaded.name);
    return handle;
}

/* Loads an MPI library if the program is linked with ours but not with MPI. We
 * define all MPI functions that the program calls, so a linker with --as-needed
 * may have dropped MPI. Returns a dlopen handle of the first installed MPI
 * library of this flavour, or NULL. */
static void *find_installed(void)
{
    void *handle = NULL;

    for (size_t i = 0; !handle && i < sizeof library_names / sizeof(char *);
         i++)
        handle = dlopen(library_names[i], RTLD_LAZY | RTLD_GLOBAL);
    return handle;
}

static void *find_private(const char *name)
{
    static void *library;
    void *handle = __atomic_load_n(&library, __ATOMIC_ACQUIRE);

    if (!handle)
        handle = find_loaded();
    if (!handle)
        handle = find_installed();
    __atomic_store_n(&library, handle, __ATOMIC_RELEASE);
    return handle ? dlsym(handle, name) : NULL;
}

static void *find_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    return found ? found : find_private(name);
}

/* --- the ABI of the program's MPI library --- */

/* Returns the name of the MPI ABI of the library that defines `function`, or
 * NULL if `function` is NULL or in the program itself. */
static const char *abi_name(void *function)
{
    Dl_info info = {0};
    const char *file, *slash;
    void *handle;
    bool is_openmpi;

    if (!function || !dladdr(function, &info) || !info.dli_fname)
        return NULL;
    handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) // `function` is defined in the program itself
        return NULL;
    is_openmpi = dlsym(handle, "ompi_mpi_comm_world");
    dlclose(handle);
    slash = strrchr(info.dli_fname, '/');
    file = slash ? slash + 1 : info.dli_fname;
    if (!strncmp(file, "libmpi_abi", strlen("libmpi_abi")))
        return ABI_NAME;
    return is_openmpi ? "Open MPI" : "MPICH or a relative of it";
}

/* Returns the ABI name of the library that defines `function`, for a message,
 * if this ABI differs from the one this file was compiled for; else NULL. */
static const char *foreign_name(void *function)
{
    const char *name = abi_name(function);

    return name && strncmp(name, OWN_NAME, strlen(OWN_NAME)) ? name : NULL;
}

/* Uses the first rank variable that is set of those of Open MPI, PMIx, PMI and
 * Slurm. Returns true if it is 0 or none is set. */
bool nw_is_first_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value && value[0])
            return !strcmp(value, "0");
    }
    return true;
}

/* Returns the word of an ABI in the name of our library for it. */
static const char *library_word(const char *abi)
{
    return !strcmp(abi, ABI_NAME)     ? "mpiabi"
           : !strcmp(abi, "Open MPI") ? "openmpi"
                                      : "mpich";
}

static pthread_once_t looked = PTHREAD_ONCE_INIT;

static void mpi_symbols_look(void)
{
    const char *name = foreign_name(find_next("PMPI_Init"));

    nw_foreign = name;
    if (name && nw_is_first_process())
        nw_warn("'%s' uses %s, but libnodewise-" OWN_WORD ".so serves " OWN_NAME
                ": the library does nothing here; use the launcher of the "
                "program's MPI, and its library libnodewise-%s.so",
                program_invocation_short_name, name, library_word(name));
}

/* --- lookups for the other files --- */

/* Searches the program before the libraries: if the program was linked with
 * copy relocations, the valid copy of the data is in the program. */
void *nw_mpi_data(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);

    return found ? found : find_private(name);
}

static int mpi_symbols_answer_no_such_call(void)
{
    return MPI_ERR_INTERN;
}

void *nw_next_call(const char *name)
{
    void *found = find_next(name);

    (void)pthread_once(&looked, mpi_symbols_look);
    if (found)
        return found;
    nw_warn_once("%s is not in the MPI library that was found", name);
    return (void *)mpi_symbols_answer_no_such_call;
}

uint64_t nw_mpi_hash(uint64_t start)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    NW_PMPI(Get_library_version)(version, &length);
    return nw_hash_text(start, version);
}

bool nw_all_ranks(MPI_Comm comm, bool mine)
{
    int in = mine, all = 0;

    return !NW_PMPI(Allreduce)(&in, &all, 1, MPI_INT, MPI_MIN, comm) && all;
}
