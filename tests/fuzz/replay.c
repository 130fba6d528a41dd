/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the committed corpus through every reader, in any build, so that errors
 * that a fuzzer once found are found again. Prints one TAP line for each
 * reader; a crash or a report of a sanitizer ends the run.
 */
#include "tests/fuzz/targets.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay_file(const struct nw_fuzz_target *target, const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file)
        return 0;
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    nw_fuzz_run(target, data, size);
    return 1;
}

static int replay_folder(const struct nw_fuzz_target *target,
                         const char *corpus)
{
    char path[4096];
    struct dirent *entry;
    int count = 0;
    DIR *folder;

    snprintf(path, sizeof path, "%s/%s", corpus, target->name);
    folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", corpus, target->name,
                 entry->d_name);
        count += replay_file(target, path);
    }
    if (folder)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("1..%zu\n", nw_fuzz_target_count);
    for (size_t i = 0; i < nw_fuzz_target_count; i++) {
        int count = replay_folder(&nw_fuzz_targets[i], argv[1]);

        printf("%s %zu - %s: %d inputs\n", count ? "ok" : "not ok", i + 1,
               nw_fuzz_targets[i].name, count);
    }
    return 0;
}
