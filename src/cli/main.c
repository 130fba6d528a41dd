/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise COMMAND ...: finds the command and runs it. */
#include "base/file.h"
#include "base/install_path.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/usage_hint.h"
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct nw_command *const commands[] = {
#define COMMAND_ROW(name) &nw_command_##name,
    NW_COMMAND_LIST(COMMAND_ROW)
#undef COMMAND_ROW
};

static const size_t command_count = sizeof commands / sizeof *commands;

/* The MPDATA solver is a separate program, which launchers can start, too. */
#define SOLVER "nodewise-mpdata"

static int run_solver(char **argv)
{
    char path[PATH_MAX];

    if (nw_install_path_find(SOLVER, SOLVER, X_OK, path)) {
        argv[0] = path;
        execv(path, argv);
    }
    fputs("nodewise: " SOLVER
          " is not installed; 'nodewise doctor' names the missing "
          "libraries\n",
          stderr);
    return NW_EXIT_ABSENT;
}

static void print_help(FILE *out)
{
    fputs("Usage: nodewise COMMAND [OPTION...]\n"
          "Places the ranks of an MPI program on cores, GPUs and nodes by how "
          "they communicate.\n\nCommands:\n",
          out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "  %-12s %s\n", "mpdata",
            "advect a quantity on a grid (the program " SOLVER ")");
    fputs("\nnodewise COMMAND --help gives details. Example:\n"
          "  nodewise profile -o app.pattern -- mpirun -n 8 ./app\n"
          "  nodewise map -t cluster.yaml -p app.pattern -o app.mapping\n",
          out);
}

static int run_command(const struct nw_command *command, int argc, char **argv)
{
    char name[64];

    snprintf(name, sizeof name, "nodewise %s", command->name);
    argv[0] = name;
    if (argc == 2 && !strcmp(argv[1], "-h"))
        argv[1] = (char *)"--help";
    nw_cli_usage_hint(command, argc, argv);
    return command->run(argc, argv);
}

static const struct nw_command *main_find(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (!strcmp(name, commands[i]->name))
            return commands[i];
    return NULL;
}

static int main_refuse(char *name)
{
    struct nw_nearest nearest;

    nw_nearest_start(&nearest, name, strlen(name));
    for (size_t i = 0; i < command_count; i++)
        nw_nearest_try(&nearest, commands[i]->name);
    nw_text_hide_controls(name);
    fprintf(stderr, "nodewise: unknown command '%s'; %s\n", name,
            nw_nearest_say(&nearest, "see nodewise --help"));
    return NW_EXIT_USAGE;
}

/* Runs `nodewise help COMMAND` as `nodewise COMMAND --help`; without COMMAND,
 * prints the list of commands. */
static int main_help(int argc, char **argv)
{
    char *words[] = {NULL, (char *)"--help", NULL};

    if (argc < 3) {
        print_help(stdout);
        return NW_EXIT_DONE;
    }
    if (!strcmp(argv[2], "mpdata"))
        return run_solver(words);
    if (!main_find(argv[2]))
        return main_refuse(argv[2]);
    return run_command(main_find(argv[2]), 2, words);
}

/* Reports output that could not be written, for example on a full disk, since
 * help and lists are printed without checks. */
static void close_stdout(void)
{
    if (!nw_file_end_output())
        return;
    fprintf(stderr, "nodewise: %s\n", nw_error_text());
    _exit(NW_EXIT_FAILED);
}

/* Makes the allocator keep freed memory for reuse instead of returning it to
 * the kernel, and use one arena for all threads: large patterns are allocated
 * and freed often. */
static void keep_memory(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 1 << 26);
}

/* Opens /dev/null for closed standard files: otherwise the first file opened
 * would take their place and receive their output, or be passed to a child.
 * Opens standard output for reading, so that writing a result still fails. */
static void keep_standard_files(void)
{
    static const int mode[] = {O_RDWR, O_RDONLY, O_RDWR};

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", mode[fd]);
}

/* Prints an error and returns false if the name of an option has a control
 * character, because getopt prints unknown options as they are. */
static bool check_options(char **argv)
{
    for (; *argv && strcmp(*argv, "--"); argv++) {
        const char *at = *argv;

        while (*at && *at != '=' && !nw_text_control(at))
            at++;
        if (**argv != '-' || !*at || *at == '=')
            continue;
        nw_text_hide_controls(*argv);
        fprintf(stderr, "nodewise: '%s': a control character in an option\n",
                *argv);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    keep_standard_files();
    keep_memory();
    argp_err_exit_status = NW_EXIT_USAGE;
    atexit(close_stdout);
    if (argc < 2) {
        print_help(stderr);
        return NW_EXIT_USAGE;
    }
    if (!check_options(argv + 1))
        return NW_EXIT_USAGE;
    /* Tables use UTF-8 or ASCII; numbers stay in the C locale. nodewise exec,
     * which runs before every rank, draws no table and need not read the locale
     * files. */
    if (strcmp(argv[1], nw_command_exec.name))
        setlocale(LC_CTYPE, "");
    if (main_find(argv[1]))
        return run_command(main_find(argv[1]), argc - 1, argv + 1);
    if (!strcmp(argv[1], "mpdata"))
        return run_solver(argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        !strcmp(argv[1], "help"))
        return main_help(argc, argv);
    if (!strcmp(argv[1], "--version")) {
        puts("nodewise " NW_VERSION);
        return NW_EXIT_DONE;
    }
    return main_refuse(argv[1]);
}
