/* PEs form a grid of rows and columns; every row and every column computes a sum of its own.
 * Shows: team_split_2d, reductions and broadcasts on teams, translate_pe. Needs OpenSHMEM 1.5 or later.
 *   oshcc teams.c -o teams && oshrun -n 6 ./teams
 *
 * The tests run it so:
 *   prints: verified
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 100 };

static long value[LENGTH], sum[LENGTH], seed; /* symmetric */

/* Element i of PE p is p + i: what a team's sum must be, from its members. */
static long expected(shmem_team_t team, int i)
{
    long total = 0;
    for (int member = 0; member < shmem_team_n_pes(team); member++)
        total += shmem_team_translate_pe(team, member, SHMEM_TEAM_WORLD) + i;
    return total;
}

static long add_up(shmem_team_t team)
{
    long wrong = 0;
    shmem_team_sync(team); /* sum must be ready on all members before one of them calls */
    shmem_long_sum_reduce(team, sum, value, LENGTH);
    for (int i = 0; i < LENGTH; i++)
        wrong += sum[i] != expected(team, i);
    return wrong;
}

/* The first of each team tells the others its PE number in the world. */
static long tell(shmem_team_t team)
{
    seed = shmem_my_pe();
    shmem_team_sync(team); /* all have read sum */
    shmem_long_broadcast(team, sum, &seed, 1, 0);
    return sum[0] != shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes(), width = 1;
    while ((width + 1) * (width + 1) <= pes)
        width++;
    for (int i = 0; i < LENGTH; i++)
        value[i] = me + i;

    shmem_team_t row, column;
    if (shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &row, NULL, 0, &column) != 0) {
        fprintf(stderr, "teams: PE %d: no teams\n", me);
        shmem_global_exit(1);
    }
    static long wrong, all;
    wrong = add_up(row) + tell(row);
    wrong += add_up(column) + tell(column);

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    if (me == 0)
        printf("teams: %d PEs in rows of %d, %s\n", pes, width, all ? "WRONG" : "verified");
    shmem_team_destroy(row);
    shmem_team_destroy(column);
    shmem_finalize();
    return all != 0;
}
