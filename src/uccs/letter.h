/* Letters: the library's own messages between processes, found by key and not by handler. Group communication and
 * the out-of-band messages are made of them.
 *
 * Data flow: the sender's try puts a short letter into the receiver's ring of the inner context, a longer one into a
 * block of its region; whoever is in progress at the receiver files it; the one for whom it is takes it by key,
 * reads it in place, and drops it, which gives the block back. So what waits at a receiver lies in the
 * senders' memory, but for short letters, whose senders bound their number.
 *
 * Keys are used once. Any thread; between inner.c's start and stop. */
#ifndef UCCS_LETTER_H
#define UCCS_LETTER_H

#include "uccs/object/stage.h"

#include <uccs.h>

struct uccs_letter_key {
    uint64_t group, sequence;
    uint32_t source; /* PE; filled in by the sender */
    uint32_t round, piece, unused;
};

#define LETTER_INLINE (UCCS_SHORT_MAX - sizeof(struct uccs_letter_key))
#define LETTER_PIECE (64u << 10) /* longest staged letter that reuses its block */

struct uccs_letter {
    struct uccs_letter_key key;
    struct uccs_letter *next;
    const char *data;
    size_t length;
    struct uccs_block *block; /* held, or null */
    char copy[];
};

/* False when there is no room just now: make progress and try again. With `out`, the letter lies in a block
 * however short it is: *out is one more until the receiver has dropped it (release; acquire by the caller). */
bool uccs_letter_try(int pe, const struct uccs_letter_key *key, const void *data, size_t length, uint32_t *out);

/* The letter with the key, or null: it is not there yet. */
struct uccs_letter *uccs_letter_take(const struct uccs_letter_key *key);
void uccs_letter_drop(struct uccs_letter *letter);

/* The handler of the inner context. */
void uccs_letter_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument);

/* At the end of a life: nobody takes what is left. */
void uccs_letter_close(void);

#endif
