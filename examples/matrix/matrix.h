/* Counts calls and bytes between PEs: the part of the tool that the generated wrappers call. Any thread. */
#ifndef MATRIX_H
#define MATRIX_H

#include <shmem.h>
#include <stddef.h>

void matrix_count(int pe, size_t bytes);
int matrix_world(shmem_ctx_t ctx, int pe);

#endif
