/* Finds where a symmetric address lies at a peer, and names the program's mistakes in addresses and PE numbers.
 *
 * Any thread. The inline paths ask uccs_near first; they come here when it knows no answer. There are three cases: the
 * peer is on another node; the peer is on this node, but the address is outside the fast ranges; the program is wrong.
 * A mistake ends the job with one line that names the call and the argument ("dest", "source").
 *
 * A product of counts and sizes that wraps would be the size of something small: the call would move that and return. So it ends the
 * job, too. */
#ifndef SHMEM_PLACE_H
#define SHMEM_PLACE_H

#include "shmem/state.h"
#include "uccs/coll/coll.h"
#include "uccs/core/memory.h"
#include "uccs/proto/initiator.h"

#include <shmemx.h>

/* Ends the job with a line that says what is wrong with the address or PE. */
_Noreturn void lat_fail_address(const char *call, const char *argument, const void *addr, int pe);

/* Returns the address in this process of a peer's object. The peer must be on this node. */
void *lat_resolve(const char *call, const char *argument, const void *addr, int pe);

/* Returns the segment and offset of my symmetric address, for a peer on another node. */
struct proto_address lat_remote_address(const char *call, const char *argument, const void *addr, int pe);

/* Like lat_remote_address, for a signal or the object of an atomic, which must be aligned. */
struct proto_address lat_remote_word(const char *call, const char *argument, const void *addr, size_t size, int pe);

/* Returns true when there are no bytes to move and the PE exists; such a call may pass any address. */
bool lat_moves_nothing(const char *call, size_t bytes, int pe);

/* More than a process addresses; 65,536 times this does not wrap. */
#define LAT_BYTES_MOST ((size_t)1 << 47)

_Noreturn void lat_fail_bytes(const char *call, size_t nelems, size_t size);

/* Returns the bytes of `nelems` elements. Hot callers know `size` when they are compiled. */
static inline size_t lat_bytes(const char *call, size_t nelems, size_t size)
{
    if (lat_unlikely(nelems > LAT_BYTES_MOST / size))
        lat_fail_bytes(call, nelems, size);
    return nelems * size;
}

/* Ends the job unless the last of `count` elements or blocks, `stride` elements apart, is within LAT_BYTES_MOST of the first. */
void lat_require_span(const char *call, ptrdiff_t stride, size_t count, size_t size);

/* Like lat_require_span, for the elements of each block of an alltoalls, dst and sst elements apart, and for their bytes. */
static inline void lat_require_strides(const char *call, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size)
{
    (void)lat_bytes(call, nelems, size);
    lat_require_span(call, dst, nelems, size);
    lat_require_span(call, sst, nelems, size);
}

/* Collectives: what the thunks call, before those of uccs/coll/coll.h. One thread at a time per team. */

/* Returns the group of a team, or null for SHMEM_TEAM_INVALID. Ends the job when the library does not run. */
struct uccs_team *lat_team_group(const char *call, shmem_team_t team);

/* Returns the group of an active set, made by the first call, or null when this PE is not in it: the standard leaves open what such a
 * call does, old programs make it, and here it does nothing (--check ends the job). Ends the job when an argument is wrong. */
struct uccs_team *lat_set_group(const char *call, int start, int logstride, int size, long *psync);

/* Ends the job unless the group has this root. */
void lat_require_root(const char *call, const struct uccs_team *group, int root);

#endif
