/* The floor of launching: starts N processes of a program and waits for all of them.
 *   floor_spawn N PROGRAM [ARGUMENTS] */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int processes = argc > 2 ? atoi(argv[1]) : 0;
    if (processes < 1) {
        fprintf(stderr, "usage: floor_spawn N PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    for (int i = 0; i < processes; i++) {
        pid_t pid;
        int error = posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ);
        if (error != 0) {
            fprintf(stderr, "floor_spawn: %s: %s\n", argv[2], strerror(error));
            return 1;
        }
    }
    int status, wrong = 0;
    while (wait(&status) > 0)
        wrong |= status != 0;
    return wrong;
}
