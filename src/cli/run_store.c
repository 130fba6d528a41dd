/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a pattern is a hash (FNV-1a, 128 bits) of working folder,
 * program, arguments and number of ranks; that of a topology, of the hosts,
 * their slots and the number of ranks. Beside each pattern is an entry: a text
 * file with hashes of the pattern, of the program and of the input files, by
 * which changes are detected. */
#include "cli/run_store.h"

#include "base/array.h"
#include "base/file.h"
#include "base/install_path.h"
#include "base/status.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Input files larger than this, in bytes, are identified by size and mtime. */
#define MOST_INPUT (64 << 20)

__extension__ typedef unsigned __int128 hash;

static hash hash_start(void)
{
    return (hash)0x6c62272e07bb0142u << 64 | 0x62b821756295c58du;
}

static void hash_bytes(hash *value, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    const hash prime = ((hash)1 << 88) + 0x13b;

    for (size_t i = 0; i < count; i++)
        *value = (*value ^ byte[i]) * prime;
}

static void hash_word(hash *value, const char *word)
{
    hash_bytes(value, word, strlen(word) + 1);
}

static void hash_number(hash *value, int64_t number)
{
    hash_bytes(value, &number, sizeof number);
}

static void hash_text(hash value, char out[33])
{
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)(value >> 64),
             (unsigned long long)value);
}

/* Adds a file's size and content to the hash; for a large file, size and time
 * of its last change. Returns false if it cannot be read. */
static bool hash_file(hash *value, const char *path)
{
    struct stat info;
    size_t length;
    char *data;

    if (stat(path, &info) || !S_ISREG(info.st_mode))
        return false;
    hash_number(value, info.st_size);
    if (info.st_size > MOST_INPUT) {
        hash_number(value, info.st_mtim.tv_sec);
        hash_number(value, info.st_mtim.tv_nsec);
        return true;
    }
    if (nw_file_read(path, &data, &length))
        return false;
    hash_bytes(value, data, length);
    free(data);
    return true;
}

static nw_status name_in(struct nw_store *store, const char *part,
                         const char *name, const char *suffix, char **out)
{
    struct nw_text text = {0};

    nw_text_format(&text, "%s/%s%s%s", store->folder, part, name, suffix);
    return nw_text_take(&text, out);
}

static nw_status name_file(struct nw_store *store, const char *name,
                           const char *suffix, char **out)
{
    return name_in(store, "", name, suffix, out);
}

bool nw_store_hash(const char *path, char out[33])
{
    hash value = hash_start();
    bool is_there = hash_file(&value, path);

    hash_text(value, out);
    return is_there;
}

/* Sets store->identity, from the program's path and content, if the program is
 * linked with an MPI. */
static void run_store_identify(struct nw_store *store, char *program,
                               hash content)
{
    if (!program ||
        !nw_launcher_flavour(NW_LAUNCHER_NONE, (char *[]){program, NULL}))
        return;
    hash_word(&content, program);
    hash_text(content, store->identity);
}

/* Sets the paths of the job's files and the hashes of the store. */
static nw_status name_files(struct nw_store *store, const struct nw_job *job)
{
    char path[PATH_MAX], name[33], hosts[33], here[PATH_MAX];
    char *program = nw_install_path_search(job->program[0], path)
                        ? realpath(path, NULL)
                        : NULL;
    hash key = hash_start(), machine = hash_start(), content = hash_start();
    nw_status status;

    hash_word(&key, getcwd(here, sizeof here) ? here : "");
    hash_word(&key, program ? program : job->program[0]);
    if (program)
        hash_file(&content, program);
    run_store_identify(store, program, content);
    for (char **word = job->program + 1; *word; word++) {
        hash_word(&key, *word);
        hash_file(&content, *word);
    }
    hash_number(&key, job->ranks);
    hash_number(&machine, job->ranks);
    for (size_t h = 0; h < job->host.count; h++) {
        hash_word(&machine, job->host.word[h]);
        hash_number(&machine, job->slots[h]);
    }
    free(program);
    hash_text(key, name);
    hash_text(machine, hosts);
    hash_text(content, store->content);
    status = name_file(store, name, ".pattern", &store->pattern);
    if (!status)
        status = name_file(store, name, ".entry", &store->entry);
    if (!status)
        status = name_in(store, NW_STORE_MACHINES "/", name, ".tried",
                         &store->tried);
    if (!status)
        status = name_in(store, NW_STORE_MACHINES "/", hosts, ".yaml",
                         &store->topology);
    return status;
}

nw_status nw_store_folder(const char *folder, char **out)
{
    const char *own = getenv("NODEWISE_STORE");
    struct nw_text text = {0};
    char here[PATH_MAX];

    folder = folder ? folder : own && *own ? own : NULL;
    if (folder && folder[0] != '/' && getcwd(here, sizeof here))
        nw_text_format(&text, "%s/%s", here, folder);
    else if (folder)
        nw_text_add(&text, folder);
    else if (!nw_file_cache(&text))
        return nw_fail(NW_EIO,
                       "no folder to store in: HOME is not set; name one with "
                       "--store or NODEWISE_STORE");
    return nw_text_take(&text, out);
}

/* Returns the error for a store that cannot be used. */
static nw_status store_fail(const char *path, const char *why)
{
    return nw_fail(NW_EIO,
                   "store %s: %s; name another with --store or NODEWISE_STORE",
                   path, why);
}

/* Creates the folder unless it exists. Returns an error if this process may not
 * write to it, or if its owner is neither this user nor root. It is also an
 * error if other users may write to the folder and it is not sticky: they could
 * then replace patterns and commands. The group may write only if its number is
 * that of the folder's owner: the owner's private group. */
static nw_status make_folder(const char *path)
{
    struct stat info;
    mode_t others = S_IWOTH;

    if ((mkdir(path, 0700) && errno != EEXIST) || stat(path, &info))
        return store_fail(path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return store_fail(path, "not a directory");
    if (info.st_gid != info.st_uid)
        others |= S_IWGRP;
    if ((info.st_uid != geteuid() && info.st_uid) ||
        ((info.st_mode & others) && !(info.st_mode & S_ISVTX)))
        return nw_fail(NW_EIO,
                       "%s: other users may write to this folder; remove their "
                       "permission, or name another with --store",
                       path);
    return access(path, W_OK | X_OK) ? store_fail(path, strerror(errno))
                                     : NW_OK;
}

/* Creates the folder of the store, its parent folders and the subfolder for
 * machines. */
static nw_status make_folders(struct nw_store *store)
{
    char *machines = NULL;
    nw_status status = name_in(store, NW_STORE_MACHINES, "", "", &machines);

    if (!status && nw_file_folders(store->folder, 0777))
        status = store_fail(store->folder, strerror(errno));
    if (!status)
        status = make_folder(store->folder);
    if (!status)
        status = make_folder(machines);
    free(machines);
    return status;
}

nw_status nw_store_open(struct nw_store *store, const char *folder,
                        const struct nw_job *job)
{
    nw_status status = nw_store_folder(folder, &store->folder);

    store->lock = -1;
    if (!status)
        status = make_folders(store);
    if (!status)
        status = name_files(store, job);
    return status;
}

/* --- the folder of one run --- */

/* a dot, not a dash, since Open MPI 5.0 refuses a dash in the path of a
 * rankfile */
#define RUN_BEGINS "run."
#define DRY_BEGINS "dry."
#define ENDS "XXXXXX" /* mkdtemp replaces it */
#define LOCK_NAME "/lock"

/* Removes the folder of a run with its files. */
static void remove_run(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *open = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (open && (entry = readdir(open)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(dirfd(open), entry->d_name, 0);
    if (open)
        closedir(open);
    rmdir(folder);
}

/* Removes the folder of a run that was killed. A run that is still active holds
 * the lock of its folder; its folder stays. */
static void remove_if_dead(const char *folder)
{
    struct nw_text name = {0};
    int lock;

    nw_text_format(&name, "%s" LOCK_NAME, folder);
    lock = name.data ? open(name.data, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (lock >= 0 && !flock(lock, LOCK_EX | LOCK_NB))
        remove_run(folder);
    if (lock >= 0)
        close(lock);
    nw_text_fini(&name);
}

/* Calls `remove` for the folders of runs in the store whose names begin with
 * `begins`. */
static void remove_folders(const char *store, const char *begins,
                           void (*remove)(const char *folder))
{
    DIR *open = opendir(store);
    struct dirent *entry;

    while (open && (entry = readdir(open))) {
        struct nw_text name = {0};

        if (strncmp(entry->d_name, begins, strlen(begins)) ||
            strlen(entry->d_name) != strlen(begins) + strlen(ENDS))
            continue;
        nw_text_format(&name, "%s/%s", store, entry->d_name);
        if (name.data)
            remove(name.data);
        nw_text_fini(&name);
    }
    if (open)
        closedir(open);
}

void nw_store_remove_runs(const char *folder)
{
    remove_folders(folder, RUN_BEGINS, remove_if_dead);
    remove_folders(folder, DRY_BEGINS, remove_run);
}

/* Locks the folder of this run. Returns false if it cannot be locked, for
 * example because another process took the new folder for that of a killed run
 * and removed it. */
static bool lock_run(struct nw_store *store)
{
    struct nw_text name = {0};
    struct stat info;

    nw_text_format(&name, "%s" LOCK_NAME, store->run);
    if (name.data)
        store->lock =
            open(name.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    nw_text_fini(&name);
    if (store->lock < 0)
        return false;
    (void)flock(store->lock, LOCK_EX);
    if (!fstat(store->lock, &info) && info.st_nlink)
        return true;
    close(store->lock);
    store->lock = -1;
    return false;
}

/* Creates and locks the folder of this run; a folder to keep is not locked. */
static nw_status make_run(struct nw_store *store, bool keep)
{
    nw_status status =
        name_file(store, keep ? DRY_BEGINS : RUN_BEGINS, ENDS, &store->run);

    if (status)
        return status;
    if (mkdtemp(store->run) && (keep || lock_run(store)))
        return NW_OK;
    status = nw_fail(NW_EIO, "%s: %s", store->run, strerror(errno));
    free(store->run);
    store->run = NULL;
    return status;
}

static void end_run(struct nw_store *store)
{
    if (store->run && store->lock >= 0) {
        remove_run(store->run);
        close(store->lock);
    }
    free(store->fresh);
    free(store->measured);
    free(store->prefix);
    free(store->run);
    store->fresh = store->measured = store->prefix = store->run = NULL;
    store->lock = -1;
}

static nw_status name_in_run(const struct nw_store *store, const char *name,
                             char **out)
{
    struct nw_text text = {0};

    nw_text_format(&text, "%s/%s", store->run, name);
    return nw_text_take(&text, out);
}

nw_status nw_store_begin_run(struct nw_store *store, bool keep)
{
    nw_status status = NW_EIO;

    end_run(store);
    remove_folders(store->folder, RUN_BEGINS, remove_if_dead);
    for (int i = 0; status && i < 3; i++)
        status = make_run(store, keep);
    if (status)
        return status;
    status = name_in_run(store, "new.pattern", &store->fresh);
    if (!status)
        status = name_in_run(store, "hosts.yaml", &store->measured);
    if (!status)
        status = name_in_run(store, "launch", &store->prefix);
    return status;
}

void nw_store_fini(struct nw_store *store)
{
    end_run(store);
    free(store->folder);
    free(store->pattern);
    free(store->entry);
    free(store->topology);
    free(store->tried);
    *store = (struct nw_store){.lock = -1};
}

/* --- launches that the launcher accepted --- */

extern char **environ;

/* Adds the words to the hash. The path of the run's folder is different in each
 * run, so that it is left out; instead, the contents of the files in the folder
 * are added. */
static void hash_words(hash *value, const struct nw_store *store,
                       const struct nw_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->word[i], *path = strstr(word, store->run);

        if (!path) {
            hash_word(value, word);
            continue;
        }
        hash_bytes(value, word, (size_t)(path - word));
        hash_word(value, path + strlen(store->run));
        hash_file(value, path);
    }
}

/* Adds size and time of the launcher's file, and the variables that configure
 * the launcher, to the hash. Of Slurm's variables, only those that srun takes
 * for options count: others, such as SLURM_JOB_ID, are new in each job. */
static void hash_launcher(hash *value, const char *launcher)
{
    static const char *const prefix[] = {
        "OMPI_",        "PRTE_",        "PMIX_",      "HYDRA_",
        "I_MPI_",       "SRUN_",        "SLURM_CONF", "SLURM_CPU",
        "SLURM_DIST",   "SLURM_EXACT",  "SLURM_EXCL", "SLURM_EXPORT",
        "SLURM_GPU",    "SLURM_HINT",   "SLURM_MEM",  "SLURM_MPI",
        "SLURM_NNODES", "SLURM_NTASKS", "SLURM_OVER", "SLURM_TASKS",
        "SLURM_THREADS"};
    char path[PATH_MAX];
    struct stat info;

    if (nw_install_path_search(launcher, path) && !stat(path, &info)) {
        hash_number(value, info.st_size);
        hash_number(value, info.st_mtim.tv_sec);
    }
    for (char **name = environ; *name; name++)
        for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
            if (!strncmp(*name, prefix[i], strlen(prefix[i])))
                hash_word(value, *name);
}

/* Makes the hash that identifies a launch, see nw_store_is_tried. */
static void hash_trial(const struct nw_store *store,
                       const struct nw_words *word,
                       const struct nw_words *variable, char out[33])
{
    hash value = hash_start();

    hash_words(&value, store, word);
    hash_words(&value, store, variable);
    hash_launcher(&value, word->word[0]);
    hash_text(value, out);
}

bool nw_store_is_tried(const struct nw_store *store,
                       const struct nw_words *word,
                       const struct nw_words *variable)
{
    char now[33], *then;
    size_t length;
    bool is_same;

    if (nw_file_read(store->tried, &then, &length))
        return false;
    hash_trial(store, word, variable, now);
    is_same = !strcmp(then, now);
    free(then);
    return is_same;
}

void nw_store_set_tried(const struct nw_store *store,
                        const struct nw_words *word,
                        const struct nw_words *variable, bool takes)
{
    char now[33];

    hash_trial(store, word, variable, now);
    if (!takes)
        unlink(store->tried);
    else if (nw_file_write(store->tried, now, strlen(now)))
        return; /* if it cannot be stored, the launch is tried again next
                   time */
}

/* --- entries --- */

/* Makes the text of the entry for the pattern in the file `pattern`. */
static nw_status entry_text(const struct nw_store *store,
                            const struct nw_job *job, const char *pattern,
                            char **out)
{
    struct nw_text text = {0};
    char sum[33];

    nw_store_hash(pattern, sum);
    nw_text_format(&text,
                   "nodewise run 1\nranks: %d\ncontent: %s\npattern: %s\n",
                   job->ranks, store->content, sum);
    if (store->identity[0])
        nw_text_format(&text, "identity: %s\n", store->identity);
    nw_text_add(&text, "program:");
    for (char **word = job->program; *word; word++)
        nw_text_format(&text, " %s", *word);
    nw_text_add(&text, "\n");
    return nw_text_take(&text, out);
}

/* Compares the stored entry with `now`, the text of an entry for the present
 * state. Returns a static string that says what has changed, or NULL. */
static const char *find_change(const struct nw_store *store, const char *now)
{
    const char *mark, *words[] = {"content: ", "pattern: "};
    size_t length;
    char *was;
    bool same;

    if (nw_file_read(store->entry, &was, &length))
        return "its entry in the store is gone";
    for (int i = 0; i < 2; i++) {
        const char *then = strstr(was, words[i]);

        mark = strstr(now, words[i]);
        same = then && mark && !strncmp(then, mark, strlen(words[i]) + 32);
        if (!same) {
            free(was);
            return i ? "the stored pattern is damaged"
                     : "the program or its input has changed";
        }
    }
    free(was);
    return NULL;
}

nw_status nw_store_pattern(const struct nw_store *store,
                           const struct nw_job *job, nw_pattern **out,
                           const char **why)
{
    struct nw_text input = {0};
    char *now = NULL, *name = NULL;
    nw_status status;

    *out = NULL;
    *why = NULL;
    if (access(store->pattern, F_OK))
        return NW_OK;
    status = entry_text(store, job, store->pattern, &now);
    if (!status)
        *why = find_change(store, now);
    free(now);
    if (status || *why)
        return status;
    nw_text_format(&input, "native:%s", store->pattern);
    status = nw_text_take(&input, &name);
    if (!status)
        status = nw_pattern_read(name, NULL, out);
    free(name);
    if (!status && (*out)->rank_count != job->ranks) {
        nw_pattern_free(*out);
        *out = NULL;
        *why = "the stored pattern is of another number of ranks";
    }
    return status;
}

nw_status nw_store_keep(const struct nw_store *store, const struct nw_job *job)
{
    char *text = NULL;
    nw_status status = entry_text(store, job, store->fresh, &text);

    if (!status && rename(store->fresh, store->pattern))
        status = nw_fail(NW_EIO, "%s: %s", store->pattern, strerror(errno));
    if (!status)
        status = nw_file_write(store->entry, text, strlen(text));
    free(text);
    return status;
}
