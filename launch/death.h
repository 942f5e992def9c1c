/* The death of a PE that is the cause of the job's end. A launcher ends the other PEs by SIGTERM, and watchers tell of all. One thread. */
#ifndef LAUNCH_DEATH_H
#define LAUNCH_DEATH_H

#include <stdbool.h>

/* Keeps the death (status as waitpid gives it) with its text. Returns false when the one that is known is as likely the cause. */
bool death_note(int status, const char *text);
/* Returns the text of the death to tell of, once, and stores the job's exit status; null: none yet. The caller frees it. */
char *death_take(int *status);
/* True while one is kept that is not taken. */
bool death_is_kept(void);
void death_forget(void);

#endif
