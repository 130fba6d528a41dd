/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a command line of mpirun, Hydra's mpiexec or srun to find where the
 * program begins, how many ranks it has, and on which hosts. */
#include "cli/launcher_line.h"

#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    OPENMPI = 1 << NW_LAUNCHER_OPENMPI,
    HYDRA = 1 << NW_LAUNCHER_HYDRA,
    SRUN = 1 << NW_LAUNCHER_SRUN,
};

enum meaning {
    KEEP,     /* passed to the launcher unchanged */
    PLACE,    /* places or binds ranks; only for runs that are not mapped */
    PER_NODE, /* like PLACE, and gives the number of ranks if no other option
                 does */
    MAP_BY,   /* like PLACE or PER_NODE, as its value says */
    NODES,    /* like PLACE, and gives the number of nodes */
    EXCLUDE,  /* takes hosts out of those of the batch job */
    RANKS,
    HOSTS,
    HOSTFILE,
};

/* The options of each launcher with their meaning and their number of values.
 * The names are separated by blanks and have no dashes. */
static const struct {
    unsigned launchers;
    enum meaning meaning;
    int values;
    const char *names;
} paste_options[] = {
    {OPENMPI | HYDRA, RANKS, 1, " n np "},
    {OPENMPI, RANKS, 1, " c "},
    {SRUN, RANKS, 1, " n ntasks "},
    {OPENMPI | HYDRA, HOSTS, 1, " host H "},
    {HYDRA, HOSTS, 1, " hosts "},
    {SRUN, HOSTS, 1, " w nodelist "},
    {SRUN, NODES, 1, " N nodes "},
    {SRUN, EXCLUDE, 1, " x exclude "},
    {OPENMPI | HYDRA, HOSTFILE, 1, " hostfile machinefile "},
    {HYDRA, HOSTFILE, 1, " f "},
    {OPENMPI | HYDRA, PLACE, 1, " bind-to "},
    {OPENMPI, MAP_BY, 1, " map-by "},
    {HYDRA, PLACE, 1, " map-by "},
    {OPENMPI, PLACE, 1, " rank-by cpu-set cpu-list "},
    {OPENMPI, PLACE, 0,
     " bynode byslot bycore bysocket bind-to-core bind-to-socket bind-to-none "
     "nolocal "},
    {OPENMPI, PER_NODE, 1,
     " npernode npersocket N rankfile rf cpus-per-proc cpus-per-rank "},
    {OPENMPI, PER_NODE, 0, " pernode "},
    {HYDRA, PLACE, 1, " rankmap order-nodes membind "},
    {HYDRA, PER_NODE, 1, " ppn perhost grr "},
    {HYDRA, PER_NODE, 0, " rr "},
    {SRUN, PLACE, 1, " m distribution cpu-bind gpu-bind mem-bind hint "},
    {SRUN, PER_NODE, 1, " ntasks-per-node ntasks-per-socket "},
    {OPENMPI | HYDRA, KEEP, 1, " wdir wd "},
    {OPENMPI, KEEP, 1,
     " x tune am path prefix output-filename output display timeout stdin "
     "personality launch-agent runtime-options forward-signals xterm "},
    {OPENMPI, KEEP, 2, " mca gmca omca prtemca pmixmca "},
    {OPENMPI, KEEP, 0,
     " oversubscribe nooversubscribe use-hwthread-cpus allow-run-as-root "
     "report-bindings display-map display-allocation tag-output "
     "timestamp-output merge-stderr-to-stdout noprefix q quiet v verbose "
     "enable-recovery get-stack-traces report-state-on-timeout "},
    {HYDRA, KEEP, 2, " genv env "},
    {HYDRA, KEEP, 1,
     " genvlist envlist launcher launcher-exec bootstrap bootstrap-exec rmk "
     "iface usize outfile-pattern errfile-pattern localhost s "},
    {HYDRA, KEEP, 0,
     " genvall envall genvnone envnone prepend-rank l verbose v info "
     "print-all-exitcodes disable-auto-cleanup "},
    {SRUN, KEEP, 1,
     " c cpus-per-task mpi export G gpus gpus-per-node gpus-per-task "
     "gpus-per-socket gres gres-flags p partition A account t time mem "
     "mem-per-cpu mem-per-gpu J job-name o output e error i input q qos C "
     "constraint D chdir threads-per-core W wait jobid "},
    {SRUN, KEEP, 0,
     " exclusive overlap O overcommit l label u unbuffered K kill-on-bad-exit "
     "v verbose Q quiet s oversubscribe "},
};

/* Returns true if `name`, of `length` characters, is one of `names`. */
static bool names_option(const char *names, const char *name, size_t length)
{
    for (const char *at = names; (at = strchr(at, ' ')) && at[1]; at++)
        if (!strncmp(at + 1, name, length) && at[1 + length] == ' ')
            return true;
    return false;
}

/* An option as it is found on the command line. */
struct option {
    enum meaning meaning;
    int words;         /* number of words, values included */
    const char *value; /* the first value, or NULL */
};

/* Parses the option at word[0] in the forms "--name value", "--name=value" and,
 * for srun, "-n4". Returns false if the launcher's option is unknown or its
 * value is missing. */
static bool read_option(const struct nw_job *job, char **word,
                        struct option *out)
{
    const char *name = *word + strspn(*word, "-");
    size_t length = strcspn(name, "=");
    const char *attached = name[length] ? name + length + 1 : NULL;
    bool is_short = name == *word + 1 && job->kind == NW_LAUNCHER_SRUN;

    if (is_short && name[1]) {
        length = 1;
        attached = name + 1;
    }
    for (size_t i = 0; i < sizeof paste_options / sizeof *paste_options; i++) {
        int values = attached ? 0 : paste_options[i].values;

        if (!(paste_options[i].launchers & 1U << job->kind) ||
            !names_option(paste_options[i].names, name, length))
            continue;
        for (int v = 1; v <= values; v++)
            if (!word[v])
                return false;
        *out = (struct option){paste_options[i].meaning, 1 + values,
                               attached ? attached
                               : values ? word[1]
                                        : NULL};
        return true;
    }
    return false;
}

size_t nw_launcher_words(enum nw_launcher_kind launcher, char **argv)
{
    const struct nw_job job = {.kind = launcher};
    size_t count = 0, program = 1;
    struct option option;
    bool known = true;

    for (; argv[count]; count++)
        known &= strcmp(argv[count], ":") != 0;
    while (known && program < count && argv[program][0] == '-') {
        known = read_option(&job, argv + program, &option);
        program += known ? (size_t)option.words : 0;
    }
    return known ? program : count;
}

static nw_status take_twice(const char *what)
{
    return nw_fail(NW_EINVAL,
                   "%s: given to nodewise run and again to the launcher "
                   "behind '--'",
                   what);
}

/* Returns the error for ranks or hosts that the job has already, from an option
 * of `nodewise run` if `given`, else from the line itself, whose launcher may
 * accept its option twice. */
static nw_status take_again(const char *what, bool given)
{
    return given
               ? take_twice(what)
               : nw_fail(NW_EUNSUPPORTED, "%s: given twice in the line", what);
}

/* Adds the words of an option to job->launcher, or to job->placement if it
 * places ranks. */
static nw_status keep_words(struct nw_job *job, char **word,
                            const struct option *option)
{
    struct nw_words *to =
        option->meaning == KEEP ? &job->launcher : &job->placement;
    nw_status status = NW_OK;

    for (int i = 0; !status && i < option->words; i++)
        status = nw_words_add(to, word[i]);
    return status;
}

static nw_status take_ranks(struct nw_job *job, const char *value,
                            const struct nw_job *given)
{
    int32_t ranks;

    if (!nw_parse_i32(value, &ranks) || ranks < 1)
        return nw_fail(NW_EUNSUPPORTED, "ranks are a number from 1, not '%s'",
                       value);
    if (job->ranks && job->ranks != ranks)
        return take_again("number of ranks", given->ranks);
    job->ranks = ranks;
    return NW_OK;
}

/* Stores a launcher's option in the job. The option's meaning selects the
 * field. */
static nw_status take_option(struct nw_job *job, char **word,
                             const struct option *option,
                             const struct nw_job *given)
{
    const char **place =
        option->meaning == HOSTS ? &job->hosts : &job->hostfile;

    if (option->meaning == RANKS)
        return take_ranks(job, option->value, given);
    if (option->meaning == EXCLUDE)
        return nw_fail(NW_EUNSUPPORTED,
                       "'%s' takes hosts out of the job (name the others by "
                       "-w)",
                       *word);
    if (option->meaning == NODES &&
        (!nw_parse_i32(option->value, &job->nodes) || job->nodes < 1))
        return nw_fail(NW_EUNSUPPORTED,
                       "the number of nodes is one number from 1, not '%s'",
                       option->value);
    if (option->meaning != HOSTS && option->meaning != HOSTFILE)
        return keep_words(job, word, option);
    if (job->hosts || job->hostfile)
        return take_again("hosts", given->hosts || given->hostfile);
    *place = option->value;
    return NW_OK;
}

/* Returns true if the launcher can compute the number of ranks from this
 * option: the ranks of each part of a machine (ppr), a rankfile, or the cores
 * of each rank (PE). */
static bool gives_count(const struct option *option)
{
    const char *value = option->value;

    if (option->meaning != MAP_BY)
        return option->meaning == PER_NODE;
    return !strncasecmp(value, "ppr:", 4) ||
           !strncasecmp(value, "rankfile", 8) || strcasestr(value, "pe=") ||
           strcasestr(value, "pe-list=");
}

static nw_status run_paste_read_line(struct nw_job *job, char **word)
{
    const struct nw_job given = *job;
    nw_status status = nw_words_add(&job->launcher, *word++);
    /* without a number of ranks, srun starts one rank on each node */
    bool counts = job->kind == NW_LAUNCHER_SRUN && !getenv("SLURM_NTASKS");

    for (; !status && *word && **word == '-';) {
        struct option option;

        if (!read_option(job, word, &option))
            return nw_fail(NW_EUNSUPPORTED,
                           "cannot tell whether '%s' of %s has a value (give "
                           "it by --launcher)",
                           *word, job->launcher.word[0]);
        status = take_option(job, word, &option, &given);
        counts |= gives_count(&option);
        word += option.words;
    }
    if (!status && !*word)
        return nw_fail(NW_EUNSUPPORTED, "no program behind '%s'",
                       job->launcher.word[0]);
    if (!status && counts && !job->ranks)
        return nw_fail(NW_EUNSUPPORTED,
                       "the number of ranks is not in the line (give -n)");
    for (char **other = word; !status && *other; other++)
        if (!strcmp(*other, ":"))
            return nw_fail(NW_EUNSUPPORTED, "the line has several programs");
    if (!status) {
        job->program = word;
        job->is_line = true;
    }
    return status;
}

/* Returns true if the word is one of `names`, which are separated by blanks. A
 * folder in front of the name is ignored if `anywhere` is true. */
static bool is_word_of(const char *names, const char *word, bool anywhere)
{
    const char *slash = anywhere ? strrchr(word, '/') : NULL;

    word = slash ? slash + 1 : word;
    return names_option(names, word, strlen(word));
}

/* Returns the word of the line that starts ranks although `nodewise run` cannot
 * map them: another launcher, or a launcher behind a command such as env. Any
 * launcher in front of them would start the whole job several times. */
static const char *find_other_launcher(char **word)
{
    if (is_word_of(" aprun deepspeed flux ibrun jsrun lrun prun torchrun ",
                   *word, false))
        return *word;
    while (*++word)
        if (is_word_of(" mpirun mpiexec orterun prterun srun ", *word, true))
            return *word;
    return NULL;
}

nw_status nw_job_check_launcher(const struct nw_job *job)
{
    struct option option;

    for (char **word = job->launcher.word + 1;
         *word && **word == '-' && read_option(job, word, &option);
         word += option.words)
        if (option.meaning == RANKS || option.meaning == HOSTS ||
            option.meaning == HOSTFILE)
            return nw_fail(NW_EINVAL,
                           "--launcher: give '%s' to nodewise run, not to %s",
                           *word, job->launcher.word[0]);
    return NW_OK;
}

nw_status nw_job_paste(struct nw_job *job)
{
    nw_status status = nw_launcher_find(job->program[0], &job->kind);
    const char *other = find_other_launcher(job->program);

    if (status) /* the name is like mpirun, but it is not a known launcher:
                   it is run unchanged */
        return nw_fail(NW_EUNSUPPORTED, "%s", nw_error_text());
    if (job->kind == NW_LAUNCHER_NONE && !job->launcher_line && other)
        return other == job->program[0]
                   ? nw_fail(NW_EUNSUPPORTED,
                             "the ranks of '%s' cannot be mapped here; "
                             "nodewise launch --list names the launchers that "
                             "take a mapping",
                             other)
                   : nw_fail(NW_EUNSUPPORTED,
                             "the launcher '%s' stands behind '%s'; a line "
                             "that begins with the launcher is mapped",
                             other, job->program[0]);
    if (job->kind == NW_LAUNCHER_NONE)
        return NW_OK;
    if (job->launcher_line)
        return take_twice("launcher");
    return run_paste_read_line(job, job->program);
}
