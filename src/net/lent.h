/* Memory of a file that one process lends and another one of the same machine maps, for the slots lend, reach and leave of a
 * transport (transport.h). What is lent names a process and its descriptor of the file, which stays open; no name in any
 * folder. Any thread; no state. */
#ifndef NET_LENT_H
#define NET_LENT_H

#include "net/transport.h"

size_t transport_lend(int fd, uint64_t at, size_t bytes, void *room);
void *transport_reach(const void *lent, size_t bytes, size_t *length);
void transport_leave(void *start, size_t bytes);

#endif
