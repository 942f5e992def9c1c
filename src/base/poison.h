/* Memory that a program must not use, made known to the address sanitizer or valgrind when the program runs under one of
 * them. Without them both calls cost a test.
 *
 * Any thread. The tools keep their knowledge per process and per address. */
#ifndef BASE_POISON_H
#define BASE_POISON_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true when a tool listens. */
bool poison_heard(void);

/* From now on a use of these bytes is a mistake that the tool reports. */
void poison_forbid(const void *at, size_t bytes);

/* The bytes may be used again. Valgrind takes them as written: it does not see what other processes store there. */
void poison_allow(const void *at, size_t bytes);

#endif
