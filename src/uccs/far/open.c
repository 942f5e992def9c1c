/* Opens, settles and closes far operations. Open registers the handler of each kind of message, then opens the
 * links. */
#include "uccs/far/inner.h"

int uccs_far_open(void)
{
    link_handle(LINK_PUT, &far_on_put);
    link_handle(LINK_PUT_BLOCKS, &far_on_put_blocks);
    link_handle(LINK_PARCEL, &far_on_parcel);
    link_handle(LINK_FLAG, &far_on_flag);
    link_handle(LINK_GET, &far_on_get);
    link_handle(LINK_GET_BLOCKS, &far_on_get_blocks);
    link_handle(LINK_AMO, &far_on_amo);
    link_handle(LINK_CHANGE, &far_on_change);
    link_handle(LINK_AMO_ANSWER, &far_on_answer);
    link_handle(LINK_DATA, &far_on_data);
    link_handle(LINK_KEY, &far_on_key);
    link_handle(LINK_IMPORT, &far_on_import);
    link_handle(LINK_GONE, &far_on_gone);
    link_handle(LINK_LOCK, &far_on_lock);
    link_handle(LINK_UNLOCK, &far_on_unlock);
    link_handle(LINK_LOCKED, &far_on_locked);
    return link_open();
}

const char *uccs_far_network(void)
{
    return link_network();
}

void uccs_far_settle(void)
{
    link_settle_all();
}

void uccs_far_close(void)
{
    link_close();
    far_lock_close();
}
