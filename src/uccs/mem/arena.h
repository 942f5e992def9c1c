/* The region of the node's memory that belongs to this process: its allocators, and where mapped memory lies. Any
 * thread. */
#ifndef UCCS_MEM_ARENA_H
#define UCCS_MEM_ARENA_H

#include "uccs/core/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The mapped region has three arenas. The arena for memory is for uccs_memory_allocate; it has as many bytes as the machine
 * has memory, and LATERAL_MEMORY at least. The program's arena has LATERAL_MEMORY bytes, for the program's messages on
 * their way. The library's arena holds its own messages, so that the library can still send when the program has filled
 * its arena. All of this is address space; pages exist once touched. */
enum uccs_arena { UCCS_ARENA_PROGRAM, UCCS_ARENA_LIBRARY, UCCS_ARENA_MEMORY, UCCS_ARENAS };
#define UCCS_LIBRARY_BYTES ((size_t)64 << 20) /* address space; pages exist once touched */

/* Returns the size of the region that a PE of a node with this many PEs asks for, in bytes. */
size_t uccs_arena_want(uint32_t node_size);

/* Returns the size of the program's arena in bytes. */
size_t uccs_arena_program_bytes(void);

/* Returns `length` zeroed bytes of the arena for memory, for uccs_memory_allocate; null when it is full. */
void *uccs_arena_take_zeroed(size_t length);

/* Returns `length` bytes of an arena, on a cache line; null when it is full. */
void *uccs_arena_take(enum uccs_arena arena, size_t length);
/* Frees a block of either function. A block of an earlier life is no block any more: nothing happens. */
void uccs_arena_give(void *block);

/* Forgets all blocks at the end of a life. */
void uccs_arena_close(void);

/* Where memory of a PE lies that the node maps: an offset in a segment. */
enum { UCCS_IN_REGION = 16, UCCS_UNMAPPED = 17 }; /* besides enum uccs_segment */

/* Returns the segment that holds the whole range of this process, and stores the offset in it; UCCS_UNMAPPED when no
 * segment does. */
uint32_t uccs_segment_locate(const void *start, size_t length, uint64_t *where);
/* Returns true when a range that no segment holds shares bytes with one. Its bytes would be in two domains of atomicity. */
bool uccs_segment_maps_partly(const void *start, size_t length);
/* Returns the address here of memory of a PE of this node; null when it is not mapped. */
char *uccs_segment_near(int owner, uint32_t segment, uint64_t where);

#endif
