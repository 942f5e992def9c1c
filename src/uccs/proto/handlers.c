/* Opens, settles and closes far operations. Open registers the handler of each kind of message, then opens the
 * links. */
#include "uccs/proto/target.h"

int proto_open(void)
{
    proto_handle(WIRE_PUT, &proto_on_put);
    proto_handle(WIRE_PUT_BLOCKS, &proto_on_put_blocks);
    proto_handle(WIRE_PARCEL, &proto_on_parcel);
    proto_handle(WIRE_FLAG, &proto_on_flag);
    proto_handle(WIRE_GET, &proto_on_get);
    proto_handle(WIRE_GET_BLOCKS, &proto_on_get_blocks);
    proto_handle(WIRE_AMO, &proto_on_amo);
    proto_handle(WIRE_CHANGE, &proto_on_change);
    proto_handle(WIRE_AMO_ANSWER, &proto_on_answer);
    proto_handle(WIRE_DATA, &proto_on_data);
    proto_handle(WIRE_KEY, &proto_on_key);
    proto_handle(WIRE_IMPORT, &proto_on_import);
    proto_handle(WIRE_GONE, &proto_on_gone);
    proto_handle(WIRE_LOCK, &proto_on_lock);
    proto_handle(WIRE_UNLOCK, &proto_on_unlock);
    proto_handle(WIRE_LOCKED, &proto_on_locked);
    return proto_workers_start();
}

const char *proto_network(void)
{
    return proto_network_name();
}

void proto_settle(void)
{
    proto_settle_all();
}

void proto_close(void)
{
    proto_workers_end();
    proto_lock_close();
}
