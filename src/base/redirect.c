/* SPDX-License-Identifier: BSD-3-Clause */
/* A library finds functions of others in a table that the loader filled, and
 * protects from then on where it filled all of it at once. */
#include "base/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__ && defined __GLIBC__

struct span {
    uintptr_t library, at;
    bool is_protected;
};

static int find_span(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct span *span = context;

    (void)bytes;
    if (info->dlpi_addr != span->library)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_GNU_RELRO &&
            span->at - info->dlpi_addr - part->p_vaddr < part->p_memsz)
            span->is_protected = true;
    }
    return 1;
}

static bool put(const struct link_map *library, void **slot, void *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct span span = {library->l_addr, (uintptr_t)slot, false};
    void *start = (char *)slot - (uintptr_t)slot % page;

    if (__atomic_load_n(slot, __ATOMIC_RELAXED) == to)
        return true;
    (void)dl_iterate_phdr(find_span, &span);
    if (span.is_protected && mprotect(start, page, PROT_READ | PROT_WRITE))
        return false;
    __atomic_store_n(slot, to, __ATOMIC_RELEASE);
    if (span.is_protected)
        (void)mprotect(start, page, PROT_READ);
    return true;
}

static uintptr_t entry(const struct link_map *library, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *at = library->l_ld; at->d_tag != DT_NULL; at++)
        if (at->d_tag == tag)
            return at->d_un.d_ptr;
    return 0;
}

/* Of one of its two lists: what it calls as it comes, or by its address. */
static bool put_all(const struct link_map *library, ElfW(Sxword) list,
                    ElfW(Sxword) bytes, const struct nw_symbol *function)
{
    const ElfW(Rela) *rela = (const void *)entry(library, list);
    const ElfW(Sym) *symbols = (const void *)entry(library, DT_SYMTAB);
    const char *names = (const void *)entry(library, DT_STRTAB);
    size_t count = entry(library, bytes) / sizeof *rela;
    bool any = false;

    for (size_t i = 0; rela && symbols && names && i < count; i++) {
        uint64_t type = ELF64_R_TYPE(rela[i].r_info);
        const char *name = names + symbols[ELF64_R_SYM(rela[i].r_info)].st_name;

        if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
            !strcmp(name, function->name))
            any |= put(library, (void **)(library->l_addr + rela[i].r_offset),
                       function->address);
    }
    return any;
}

bool nw_library_redirect(const char *soname, const struct nw_symbol *function)
{
    void *handle = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    struct link_map *library = NULL;
    bool any = false;

    if (!handle)
        return false;
    if (!dlinfo(handle, RTLD_DI_LINKMAP, &library)) {
        any = put_all(library, DT_JMPREL, DT_PLTRELSZ, function);
        any |= put_all(library, DT_RELA, DT_RELASZ, function);
    }
    (void)dlclose(handle);
    return any;
}

#else

bool nw_library_redirect(const char *soname, const struct nw_symbol *function)
{
    (void)soname, (void)function;
    return false;
}

#endif
