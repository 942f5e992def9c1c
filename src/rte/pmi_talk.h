/* The talk with a launcher that speaks PMI-1: lines of "cmd=word key=value ...", one answer to each request.
 *
 * One thread at a time talks (the lock of exchange.c). */
#ifndef RTE_PMI_TALK_H
#define RTE_PMI_TALK_H

#include <stdbool.h>
#include <stddef.h>

#define PMI_LINE 4096 /* bytes of a line at most */

extern struct pmi_talk {
    int fd;
    size_t have, taken; /* bytes in input; length of the line handed out last */
    char input[PMI_LINE + 1];
    bool broken;   /* connection lost, or nonsense heard: nothing is asked or believed any more */
    bool hushed;   /* a loss is no fault now */
    bool out;      /* the barrier is over; its line may have come in place of another answer */
    bool of_slurm; /* srun's server, not Hydra's */
    bool open;     /* false while the way to the launcher is opened */
    char why[320]; /* the first fault until then; one line tells it with what to do */
} pmi_talk;

/* The first fault ends the talk, and is all that is printed: an answer that comes late would be taken for that of another
 * request, and a silent launcher waited for once more. Returns -1. */
int pmi_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Connects to "host:port" (PMI_PORT). Returns the descriptor, or -1. */
int pmi_call(const char *port);

/* Waits until Slurm's server has read what was sent before, such as the word that this PE has come to a barrier: it takes all
 * that it reads at once for one request, and drops the next one. Returns false when it does not read. */
bool pmi_await_reader(void);

/* Sends the bytes. Returns 0, or -1. */
int pmi_speak(const char *line, size_t bytes);

/* Copies the value of a key in a line, up to the next blank, and cuts it when it does not fit. Returns false when the
 * line lacks the key. */
bool pmi_value_of(const char *line, const char *key, char *value, size_t room);

/* Returns the next answer, valid until the next call, when it is of the wanted kind and has rc=0 or no rc, else null. */
const char *pmi_expect(const char *kind);

/* Sends one request. Returns the answer when it is good, else null. */
const char *pmi_ask(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends a line of another, and copies the answer of whatever kind. Returns its length, or -1. */
long pmi_relay(const char *line, char *answer, size_t bytes);

/* Returns true when input waits. Under the lock no other request is open, so it is the end of the barrier. */
bool pmi_can_hear(void);

#endif
