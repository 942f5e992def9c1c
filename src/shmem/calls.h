/* What the thunks of functions without types call: shmem_X calls lat_X with the same arguments.
 * The standard defines meaning, arguments and errors. Each comment names the file that defines what follows. */
#ifndef SHMEM_CALLS_H
#define SHMEM_CALLS_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>

/* init.c */
void lat_init(void);
int lat_init_thread(int requested, int *provided);
void lat_start_pes(int npes);
void lat_finalize(void);
_Noreturn void lat_global_exit(int status);
void lat_query_thread(int *provided);
void lat_query_initialized(int *initialized);

/* info.c */
int lat_my_pe(void);
int lat_n_pes(void);
int lat_pe_accessible(int pe);
int lat_addr_accessible(const void *addr, int pe);
void *lat_ptr(const void *dest, int pe);
void lat_info_get_version(int *major, int *minor);
void lat_info_get_name(char *name);
void lat_info_print(void); /* SHMEM_VERSION and SHMEM_INFO, at the first init */

/* mem.c */
void *lat_malloc(size_t size);
void *lat_calloc(size_t count, size_t size);
void *lat_align(size_t alignment, size_t size);
void *lat_malloc_with_hints(size_t size, long hints);
void *lat_realloc(void *ptr, size_t size);
void lat_free(void *ptr);

/* team.c; the splits: split.c */
void *lat_team_ptr(shmem_team_t team, const void *dest, int pe);
int lat_team_my_pe(shmem_team_t team);
int lat_team_n_pes(shmem_team_t team);
int lat_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);
int lat_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);
int lat_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                           long config_mask, shmem_team_t *new_team);
int lat_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                      shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                      shmem_team_t *yaxis_team);
void lat_team_destroy(shmem_team_t team);

/* ctx.c */
int lat_ctx_create(long options, shmem_ctx_t *ctx);
int lat_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);
void lat_ctx_destroy(shmem_ctx_t ctx);
int lat_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);
void lat_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask);
void lat_ctx_session_stop(shmem_ctx_t ctx);

/* sync.c */
void lat_fence(void);
void lat_ctx_fence(shmem_ctx_t ctx);
void lat_quiet(void);
void lat_ctx_quiet(shmem_ctx_t ctx);
void lat_pe_quiet(const int *target_pes, size_t npes);
void lat_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes);
void lat_barrier_all(void);
void lat_sync_all(void);
int lat_team_sync(shmem_team_t team);

/* signal.c */
void lat_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
void lat_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
void lat_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
void lat_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
uint64_t lat_signal_fetch(const uint64_t *sig_addr);
uint64_t lat_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* lock.c */
void lat_set_lock(long *lock);
void lat_clear_lock(long *lock);
int lat_test_lock(long *lock);

/* coll/set.c: active sets */
void lat_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);
void lat_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

#endif
