#include "death.h"

#include "loop.h"
#include "message.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define TERM_MS 200 /* time in which a death by SIGTERM may turn out to follow from another one */
#define NONE (-1)

static int cause = NONE; /* also once it is taken */
static char *kept;
static int64_t due_at;

static bool is_by_term(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

bool death_note(int status, const char *text)
{
    if (cause != NONE && (is_by_term(status) || !is_by_term(cause)))
        return false;
    due_at = !is_by_term(status) ? loop_now() : loop_now() + TERM_MS;
    cause = status;
    free(kept);
    kept = say_if_null(strdup(text));
    return true;
}

char *death_take(int *status)
{
    char *text = kept;
    if (!kept || loop_now() < due_at)
        return NULL;
    *status = WIFSIGNALED(cause)   ? STATUS_SIGNAL + WTERMSIG(cause)
              : WEXITSTATUS(cause) ? WEXITSTATUS(cause)
                                   : STATUS_FAILED;
    kept = NULL;
    return text;
}

bool death_is_kept(void)
{
    return kept;
}

void death_forget(void)
{
    free(kept);
    kept = NULL;
}
