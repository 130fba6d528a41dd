/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites one library's entries for one symbol in its table of addresses. */
#include "map/placement/scotch_errors.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

static const ElfW(Dyn) * entry(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *at = map->l_ld; at->d_tag != DT_NULL; at++)
        if (at->d_tag == tag)
            return at;
    return NULL;
}

static void scotch_errors_set_slot(void *slot, void *address)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)slot & ~(size - 1);

    if (!mprotect((void *)page, size, PROT_READ | PROT_WRITE))
        memcpy(slot, &address, sizeof address);
}

/* One table of relocations with addends, as all 64-bit machines use. */
static void scotch_errors_point_table(const struct link_map *map,
                                      const char *symbol, void *address,
                                      ElfW(Sxword) tags[2])
{
    const ElfW(Dyn) *table = entry(map, tags[0]), *size = entry(map, tags[1]);
    const ElfW(Dyn) *names = entry(map, DT_STRTAB);
    const ElfW(Dyn) *symbols = entry(map, DT_SYMTAB);

    if (!table || !size || !names || !symbols)
        return;
    for (size_t i = 0; i < size->d_un.d_val / sizeof(ElfW(Rela)); i++) {
        const ElfW(Rela) *rela = (const ElfW(Rela) *)table->d_un.d_ptr + i;
        const ElfW(Sym) *sym =
            (const ElfW(Sym) *)symbols->d_un.d_ptr + SYMBOL_OF(rela->r_info);
        const char *name = (const char *)names->d_un.d_ptr + sym->st_name;

        if (!strcmp(name, symbol))
            scotch_errors_set_slot((void *)(map->l_addr + rela->r_offset),
                                   address);
    }
}

void nw_scotch_errors_redirect(void *handle, const char *symbol, void *address)
{
    const ElfW(Dyn) * kind;
    struct link_map *map;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map))
        return;
    kind = entry(map, DT_PLTREL);
    if (kind && kind->d_un.d_val == DT_RELA)
        scotch_errors_point_table(map, symbol, address,
                                  (ElfW(Sxword)[]){DT_JMPREL, DT_PLTRELSZ});
    scotch_errors_point_table(map, symbol, address,
                              (ElfW(Sxword)[]){DT_RELA, DT_RELASZ});
}
