/* The floor of launching: starts N processes that do nothing, copies of itself, and waits for all of them.
 *   floor_spawn N */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 0, status, wrong = 0;
    char *nothing[] = {argv[0], NULL};
    for (int i = 0; i < processes; i++) {
        pid_t pid;
        int error = posix_spawn(&pid, argv[0], NULL, NULL, nothing, environ);
        if (error != 0) {
            fprintf(stderr, "floor_spawn: %s: %s\n", argv[0], strerror(error));
            return 1;
        }
    }
    while (processes && wait(&status) > 0)
        wrong |= status != 0;
    return wrong;
}
