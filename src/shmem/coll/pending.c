/* Placeholder until teams and collectives land in the next change: each call ends the job. */
#include "shmem/calls.h"
#include "shmem/coll/coll.h"
#include "shmem/state.h"
#define GONE(call) lat_fail(call, "not in this build yet")
int lat_broadcast(const char *call, shmem_team_t t, void *d, const void *s, size_t b, int r) { (void)t,(void)d,(void)s,(void)b,(void)r; GONE(call); }
int lat_collect(const char *call, shmem_team_t t, void *d, const void *s, size_t b) { (void)t,(void)d,(void)s,(void)b; GONE(call); }
int lat_fcollect(const char *call, shmem_team_t t, void *d, const void *s, size_t b) { (void)t,(void)d,(void)s,(void)b; GONE(call); }
int lat_alltoall(const char *call, shmem_team_t t, void *d, const void *s, size_t b) { (void)t,(void)d,(void)s,(void)b; GONE(call); }
int lat_alltoalls(const char *call, shmem_team_t t, void *d, const void *s, ptrdiff_t x, ptrdiff_t y, size_t n, size_t b) { (void)t,(void)d,(void)s,(void)b,(void)x,(void)y,(void)n; GONE(call); }
int lat_reduce(const char *call, shmem_team_t t, void *d, const void *s, size_t n, enum lat_kind k, enum lat_op o) { (void)t,(void)d,(void)s,(void)n,(void)k,(void)o; GONE(call); }
int lat_scan(const char *call, shmem_team_t t, void *d, const void *s, size_t n, enum lat_kind k, int i) { (void)t,(void)d,(void)s,(void)n,(void)k,(void)i; GONE(call); }
void lat_set_broadcast(const char *call, void *d, const void *s, size_t b, int r, int x, int y, int z, long *p) { (void)d,(void)s,(void)b,(void)r,(void)x,(void)y,(void)z,(void)p; GONE(call); }
void lat_set_collect(const char *call, void *d, const void *s, size_t b, int x, int y, int z, long *p) { (void)d,(void)s,(void)b,(void)x,(void)y,(void)z,(void)p; GONE(call); }
void lat_set_fcollect(const char *call, void *d, const void *s, size_t b, int x, int y, int z, long *p) { (void)d,(void)s,(void)b,(void)x,(void)y,(void)z,(void)p; GONE(call); }
void lat_set_alltoall(const char *call, void *d, const void *s, size_t b, int x, int y, int z, long *p) { (void)d,(void)s,(void)b,(void)x,(void)y,(void)z,(void)p; GONE(call); }
void lat_set_alltoalls(const char *call, void *d, const void *s, ptrdiff_t q, ptrdiff_t r, size_t n, size_t e, int x, int y, int z, long *p) { (void)d,(void)s,(void)q,(void)r,(void)n,(void)e,(void)x,(void)y,(void)z,(void)p; GONE(call); }
void lat_set_reduce(const char *call, void *d, const void *s, size_t n, enum lat_kind k, enum lat_op o, int x, int y, int z, void *w, long *p) { (void)d,(void)s,(void)n,(void)k,(void)o,(void)x,(void)y,(void)z,(void)w,(void)p; GONE(call); }
void lat_barrier(int x, int y, int z, long *p) { (void)x,(void)y,(void)z,(void)p; GONE("shmem_barrier"); }
void lat_sync(int x, int y, int z, long *p) { (void)x,(void)y,(void)z,(void)p; GONE("shmem_sync"); }
void *lat_team_ptr(shmem_team_t t, const void *d, int pe) { (void)t,(void)d,(void)pe; GONE("shmem_team_ptr"); }
int lat_team_get_config(shmem_team_t t, long m, shmem_team_config_t *c) { (void)t,(void)m,(void)c; GONE("shmem_team_get_config"); }
int lat_team_translate_pe(shmem_team_t t, int pe, shmem_team_t u) { (void)t,(void)pe,(void)u; GONE("shmem_team_translate_pe"); }
int lat_team_split_strided(shmem_team_t p, int s, int st, int n, const shmem_team_config_t *c, long m, shmem_team_t *t) { (void)p,(void)s,(void)st,(void)n,(void)c,(void)m,(void)t; GONE("shmem_team_split_strided"); }
int lat_team_split_2d(shmem_team_t p, int x, const shmem_team_config_t *c, long m, shmem_team_t *t, const shmem_team_config_t *d, long n, shmem_team_t *u) { (void)p,(void)x,(void)c,(void)m,(void)t,(void)d,(void)n,(void)u; GONE("shmem_team_split_2d"); }
void lat_team_destroy(shmem_team_t t) { (void)t; GONE("shmem_team_destroy"); }
