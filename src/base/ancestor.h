/* Who has started whom, from /proc. */
#ifndef BASE_ANCESTOR_H
#define BASE_ANCESTOR_H

#include <sys/types.h>

/* Returns the closest process that is both, or has started both; 0 when /proc does not show it. Any thread. */
pid_t ancestor_common(pid_t one, pid_t other);

#endif
