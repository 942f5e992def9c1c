/* Pool of objects of one size, for objects that come and go fast (requests, messages).
 *
 * pool_get and pool_put: any thread, lock-free but when the pool grows. pool_create, pool_destroy: one
 * thread, and nothing is in use at destroy. Objects lie on cache lines of their own, never move, and have a
 * number that stays the same; their bytes are zero at the first get and afterwards as the last user left
 * them. Memory is given back by pool_destroy alone. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool;

/* first: objects of the first chunk, each further chunk doubles; most: a limit, 0 for none but memory. Null
 * when memory is exhausted. */
struct pool *pool_create(size_t object_bytes, uint32_t first, uint32_t most);
void pool_destroy(struct pool *pool);

/* Null when the limit is reached or memory exhausted. Aligned to 16 bytes. */
void *pool_get(struct pool *pool);

/* An object that is in the pool already ends the process with a line. */
void pool_put(struct pool *pool, void *object);

/* The object's number, 0 and up, and back. */
uint32_t pool_number(const void *object);
void *pool_object(const struct pool *pool, uint32_t number);

/* Objects made so far, in use or not; a number beyond that is no object. */
uint32_t pool_capacity(const struct pool *pool);

#endif
