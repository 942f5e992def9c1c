/* The command line of oshrun, read once at the start and constant from then on.
 *
 * options_read exits by itself: with status 0 after --help and --version, with status 2 and one line after a mistake.
 * So a filled struct options is always valid. */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H

#include "set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One program of the line. An MPMD line has several, separated by ":". */
struct app {
    uint32_t count;       /* its PEs */
    uint32_t per_node;    /* -N; 0: not given */
    bool counted;         /* -n or -N was given; else count is the number of processors here */
    char **argv;          /* ends with NULL; never empty */
    const char *wdir;     /* NULL: oshrun's own directory */
    const char **exports; /* -x, in order */
    size_t nexports;
    char *path; /* the file to execute, from program_find; a relative path starts in wdir */
};

#define OPTIONS_INPUT_ALL (-1)
#define OPTIONS_INPUT_NONE (-2)

struct options {
    struct app *apps;
    size_t napps;
    uint32_t pes;  /* sum of the counts */
    uint32_t cpus; /* processors that oshrun may use */
    bool bind_cores;
    bool tag;
    bool stamp;           /* put the time in front of each line */
    const char *out_name; /* PEs write into files of this name; NULL: through oshrun */
    int64_t input;        /* the PE that reads standard input, or one of OPTIONS_INPUT_* */
    bool stacks;          /* print the stacks of all PEs where the places are printed */
    bool check;
    bool race;           /* --check=race: the layer that looks for races, in place of the one of --check */
    bool stats;          /* print what the PEs did */
    const char *trace;   /* a file for the timeline; NULL: none */
    const char *debug;   /* as given; NULL: not at all */
    struct set debugged; /* PEs that wait for a debugger */
    bool quiet;
    bool oversubscribe; /* more PEs than slots */
    bool root;          /* other launchers may run as root */
    double timeout;     /* seconds; 0: none */
    double deadlock;    /* seconds after which a job that is stuck ends; 0: never */
    const char *hosts;  /* the option that named hosts, as given; NULL: none did */
    const char *host_list, *host_file;
    const char *placing; /* an option that spreads PEs over nodes; NULL: none was given */
};

void options_read(struct options *options, int argc, char **argv);
/* Once the number of PEs is settled: reads --debug. Exits after one line when it or --stdin names a PE that the job does not have. */
void options_settle(struct options *options);
extern const char options_help[]; /* help.c */

#endif
