/* The nodes below one in the tree of watchers, as that knows them; the root knows those that have lost the one above them, too. One thread. */
#ifndef LAUNCH_PARTY_H
#define LAUNCH_PARTY_H

#include "channel.h"
#include "deadlock.h"
#include "picture.h"

struct party {
    struct channel *channel; /* null: not connected; the root's own node has none */
    char *pes;               /* as set_write writes them; null: not known yet */
    char host[64];
    enum { QUIET, ASKED, BUSY, SEEN } state;
    bool left;        /* it has ended, as its PEs have */
    enum stuck stuck; /* of this node and those below it, `counted` in all */
    uint32_t counted;
};

/* Party 0 is this node; where this one has taken the root's place, what the root was called. */
struct parties {
    struct party *party;
    uint32_t count; /* nodes of the job, at most */
    uint32_t connected;
};

/* Takes "HOST\tPES", which is changed; the first text counts. */
void party_introduce(struct party *party, char *text);
/* Tells who this node is. */
void party_introduce_own(struct channel *channel, const struct node *node);
/* Sends the line to all that are connected. */
void party_send_all(const struct parties *parties, const char *line);
/* Returns what this node and those below it are, of which it counts those that have told. */
enum stuck party_judge(const struct parties *parties, uint32_t *counted);
/* Returns a node that has gone without a word and has the PE, or any PE (-1); null: none. */
const struct party *party_find_lost(const struct parties *parties, int64_t pe);
/* Adds the PEs of nodes that have not told to the picture. At the root, those of nodes that were never heard of are all that nobody else
 * has. */
void party_add_silent(const struct parties *parties, bool root, struct picture *picture);

/* The death of a PE that is the cause of the job's end. A launcher ends the other PEs by SIGTERM, and watchers tell of all. */

/* Keeps the death (status as waitpid gives it) with its text. Returns false when the one that is known is as likely the cause. */
bool death_note(int status, const char *text);
/* Returns the text of the death to tell of, once, and stores the job's exit status; null: none yet. The caller frees it. */
char *death_take(int *status);
/* Tells the node above of the one that is kept, if there is one. */
void death_send(struct channel *above);
/* True while one is kept that is not taken. */
bool death_is_kept(void);
void death_forget(void);

#endif
