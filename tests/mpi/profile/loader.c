/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a module privately and returns what its private_main() does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(void);

    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(module, "private_main");
    return run ? run() : 1;
}
