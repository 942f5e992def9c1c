#include "party.h"

#include "loop.h"
#include "message.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_MS 200 /* time in which a death by SIGTERM may turn out to follow from another one */
#define NONE (-1)

void party_introduce(struct party *party, char *text)
{
    char *pes = strchr(text, '\t');
    if (!pes || party->pes)
        return;
    *pes++ = 0;
    snprintf(party->host, sizeof party->host, "%s", text);
    party->pes = say_if_null(strdup(pes));
}

void party_introduce_own(struct channel *channel, const struct node *node)
{
    char host[64] = "?", *pes = say_if_null(malloc(PICTURE_LINE));
    struct set set = set_make(node->total);
    gethostname(host, sizeof host - 1);
    for (uint32_t i = 0; i < node->size; i++)
        set_add(&set, node_pe_number(node, i));
    set_write(&set, 0, pes, PICTURE_LINE);
    channel_send(channel, "node %s\t%s\n", host, pes);
    set_free(&set);
    free(pes);
}

void party_send_all(const struct parties *parties, const char *line)
{
    for (uint32_t i = 1; parties->connected && i < parties->count; i++)
        channel_send(parties->party[i].channel, "%s\n", line);
}

enum stuck party_judge(const struct parties *parties, uint32_t *counted)
{
    enum stuck all = parties->party[0].stuck;
    *counted = 1;
    for (uint32_t i = 1; i < parties->count && all != STUCK_NOT; i++) {
        const struct party *party = &parties->party[i];
        if (!party->channel)
            continue;
        all = party->stuck == STUCK_IDLE ? all : party->stuck;
        *counted += party->counted;
    }
    return all;
}

/* Returns the PEs of a node that is known; the caller frees them. */
static struct set pes_of(const struct party *party, uint32_t size)
{
    struct set pes = set_make(size);
    (void)set_read(&pes, party->pes);
    return pes;
}

const struct party *party_find_lost(const struct parties *parties, int64_t pe)
{
    for (uint32_t i = 0; i < parties->count; i++) {
        const struct party *party = &parties->party[i];
        if (!party->pes || party->channel || party->left)
            continue;
        struct set pes = pes_of(party, pe < 0 ? 0 : (uint32_t)pe + 1);
        const bool found = pe < 0 || set_has(&pes, (uint32_t)pe);
        set_free(&pes);
        if (found)
            return party;
    }
    return NULL;
}

void party_add_silent(const struct parties *parties, bool root, struct picture *picture)
{
    const uint32_t size = picture->known.size;
    struct set unknown = set_make(size), others = set_copy(&picture->known);
    char what[80];
    for (uint32_t i = root ? 0 : 1; i < parties->count; i++) {
        const struct party *party = &parties->party[i];
        if (!party->pes)
            continue;
        struct set pes = pes_of(party, size);
        set_add_all(&others, &pes);
        snprintf(what, sizeof what, "host %.40s %s", party->host,
                 party->left            ? "has ended"
                 : party->state == BUSY ? "has not finished to look"
                                        : "is silent");
        if (party->state != SEEN || !party->channel)
            picture_add_other(picture, &pes, what);
        set_free(&pes);
    }
    for (uint32_t pe = 0; root && others.count < size && pe < size; pe++)
        if (!set_has(&others, pe))
            set_add(&unknown, pe);
    picture_add_other(picture, &unknown, "host has never been heard of");
    set_free(&unknown);
    set_free(&others);
}

/* ---- the death that is told ---- */

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

void death_send(struct channel *above)
{
    if (kept)
        channel_send(above, "dead %d %s\n", cause, kept);
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
