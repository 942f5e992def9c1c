/* The larger parts of lateral-info. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include <limits.h>
#include <stdbool.h>

/* What lateral-info tells, found once for its text and its JSON.
 *
 * One thread. Texts are static, or live until the end. */

struct machine {
    char host[256], kernel[256];
    int allowed, cores;
    long page;     /* bytes */
    double memory; /* bytes */
};
struct machine facts_machine(void);

/* A module of the library, and the library of the system that it works with. */
struct facts_module {
    const char *name, *serves;
    const char *version, *path; /* of that library; null: the module cannot be used */
    char why[512];              /* what the dynamic linker said then */
};
/* The module for TCP needs no library: it stands for its own. */
enum facts_which { FACTS_TCP, FACTS_UCX, FACTS_OFI, FACTS_PMIX };
struct facts_module facts_module(enum facts_which which);
/* Returns libfabric's provider for messages, and whether it is software over IP; null: there is none, or no module. */
const char *facts_provider(bool *software);

struct facts_layer {
    bool installed;
    char soname[64], path[PATH_MAX]; /* of the MPI library; empty: not found */
};
struct facts_layer facts_layer(int i);

extern const char *const facts_target, *const facts_compiler;
extern const bool facts_assertions;

/* Tries what a job needs here and prints a line for each thing. Returns the exit status: 1 when something that a job on
 * this machine needs does not work, else 0. */
int info_doctor(const char *refused);

/* The PE of the small job that info_doctor starts. Returns its exit status. */
int info_doctor_pe(void);

#endif
