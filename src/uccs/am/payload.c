/* Payloads that a handler keeps. Any thread. */
#include "uccs/am/am.h"

#include <stdlib.h>
#include <string.h>

struct kept {
    struct uccs_payload payload; /* the program has its address */
    struct uccs_bounce *block;   /* holds the payload, or null */
    struct uccs_whole *whole;    /* holds the payload of a long message, or null */
    char copy[];                 /* of a payload that came in a cell */
};

int uccs_am_keep(uccs_am_token_t token, uccs_payload_t *payload)
{
    if (!token || !payload)
        return UCCS_ERR_INVALID;
    if (token->outcome != UCCS_AM_HANDLED || token->kept)
        return UCCS_ERR_STATE;
    const struct uccs_message *message = token->message;
    bool inlined = !message->staged && !token->whole;
    struct kept *kept = malloc(sizeof *kept + (inlined ? message->length : 0));
    if (!kept)
        return UCCS_ERR_NO_MEMORY;
    *kept = (struct kept){.payload = {kept->copy, message->length}, .whole = token->whole};
    if (inlined) {
        memcpy(kept->copy, message->payload, message->length);
    } else if (token->whole) {
        kept->payload = (struct uccs_payload){token->whole->payload, token->whole->bytes};
        token->whole = 0;
    } else {
        kept->block = uccs_am_hold(token);
        kept->payload.data = kept->block->payload;
    }
    token->kept = true;
    *payload = &kept->payload;
    return UCCS_OK;
}

void uccs_payload_done(uccs_payload_t payload)
{
    struct kept *kept = (struct kept *)(uintptr_t)payload;
    if (!kept)
        return;
    if (kept->block)
        uccs_am_done(kept->block);
    free(kept->whole);
    free(kept);
}
