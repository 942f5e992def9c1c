/* An unknown algorithm, or an unknown way to serve messages, gives an error that lists the known ones.
 *
 * pes: 1 2
 * case: reduce
 * env: LATERAL_COLL=broadcast:slots,reduce:nonsense
 * fails: LATERAL_COLL has reduce:nonsense, but reduce is one of slots, leader, pull, share, gather, rail$
 * case: broadcast
 * env: LATERAL_COLL=broadcast:share,
 * fails: LATERAL_COLL has broadcast:share, but broadcast is one of slots, pull, gather, rail$
 * case: sync
 * env: LATERAL_COLL=sync:2
 * fails: LATERAL_COLL has sync:2, but sync is one of auto, disseminate, count$
 * case: word
 * env: LATERAL_COLL=reduce
 * fails: LATERAL_COLL has reduce, but reduce is one of slots, leader, pull, share, gather, rail$
 * case: longer
 * env: LATERAL_COLL=scan:slots2
 * fails: LATERAL_COLL has scan:slots2, but scan is one of slots, pull, share, gather$
 * case: collective
 * env: LATERAL_COLL=scan:slots,redcue:share
 * fails: LATERAL_COLL has redcue:share, but a collective is one of sync, broadcast, collect, fcollect, alltoall, alltoalls, reduce, scan$
 * case: progress
 * env: LATERAL_PROGRESS=thred
 * fails: LATERAL_PROGRESS=thred is not one of auto, poll, thread$
 * case: root
 * args: root
 * fails: PE_root 9 is out of range
 * case: address
 * args: address
 * fails: source 0x[0-9a-f]+ is not a symmetric address
 */
#include "coll.h"

int main(int argc, char **argv)
{
    static char target[100000];
    shmem_init();
    if (argc > 1 && strcmp(argv[1], "root") == 0)
        shmem_broadcastmem(SHMEM_TEAM_WORLD, target, target, 1, 9);
    char *private = malloc(sizeof target);
    if (argc > 1 && shmem_n_pes() > 1)
        shmem_fcollectmem(SHMEM_TEAM_WORLD, target, private, sizeof target / 2);
    if (argc > 1)
        fprintf(stderr, "source 0x0 is not a symmetric address\n"); /* alone, nobody needs the address */
    free(private);
    return 1;
}
