/* Finds where a symmetric address lies at a peer, and names the program's mistakes in addresses and PE numbers.
 *
 * Any thread. The inline paths ask uccs_near first; they come here when it knows no answer. There are three cases: the
 * peer is on another node; the peer is on this node, but the address is outside the fast ranges; the program is wrong.
 * A mistake ends the job with one line that names the call and the argument ("dest", "source"). */
#ifndef SHMEM_PLACE_H
#define SHMEM_PLACE_H

#include "shmem/state.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/memory.h"

/* Ends the job with a line that says what is wrong with the address or PE. */
_Noreturn void lat_fail_address(const char *call, const char *argument, const void *addr, int pe);

/* Returns the address in this process of a peer's object. The peer must be on this node. */
void *lat_resolve(const char *call, const char *argument, const void *addr, int pe);

/* Returns the segment and offset of my symmetric address, for a peer on another node. */
struct proto_address lat_remote_address(const char *call, const char *argument, const void *addr, int pe);

/* Returns true when there are no bytes to move and the PE exists; such a call may pass any address. */
bool lat_moves_nothing(const char *call, size_t bytes, int pe);

#endif
