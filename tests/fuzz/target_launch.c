/* oshrun's command line and hostfile. Lines up to an empty one are words of the command line ("NAME=VALUE" before them:
 * Slurm's variables); what follows is the hostfile that the word @ names. */
#include "fuzz/fuzz.h"

#include "hosts.h"
#include "options.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS = 64 };

static jmp_buf home;
static int away; /* the launcher's code runs */

/* The linker sends all calls of exit here, those of the fuzzer too. */
_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);
_Noreturn void __wrap_exit(int status)
{
    if (!away)
        __real_exit(status);
    longjmp(home, 1);
}

static int file_of(const char *text)
{
    int fd = memfd_create("hostfile", 0);
    if (fd >= 0 && *text)
        (void)!write(fd, text, strlen(text));
    return fd;
}

static void read_line(char **words)
{
    struct options options;
    struct hosts hosts;
    volatile int count = 0;
    while (words[count])
        count++;
    away = 1;
    if (setjmp(home)) {
        away = 0;
        return;
    }
    options_read(&options, count, words);
    if (hosts_elsewhere(&options, &hosts)) {
        free(hosts_list(&hosts, true));
        free(hosts_slice(&hosts, 1, options.pes));
    }
    options_settle(&options);
    hosts_free(&hosts);
    away = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS + 1] = {"oshrun"}, path[64];
    char *copy = malloc(size + 1);
    memcpy(copy, data, size);
    copy[size] = 0;
    char *end = strstr(copy, "\n\n"), *rest = copy, *word;
    int count = 1, file = file_of(end ? end + 2 : "");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (end)
        *end = 0;
    unsetenv("SLURM_NTASKS");
    unsetenv("SLURM_JOB_NUM_NODES");
    unsetenv("SLURM_JOB_ID");
    while (count < WORDS && (word = strsep(&rest, "\n"))) {
        if (strncmp(word, "SLURM_", 6) == 0 && strchr(word, '='))
            putenv(strdup(word));
        else if (!strstr(word, "status")) /* it looks at processes */
            words[count++] = strcmp(word, "@") == 0 ? path : word;
    }
    read_line(words);
    close(file);
    free(copy);
    return 0;
}
