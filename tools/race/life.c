/* Begin and end of the layer: with the program's first init and last finalize. */
#include "race.h"

#include "shmem/check.h"

#define SHMEM_NO_DEPRECATED_WARNINGS
#include <pshmem.h>
#include <stdlib.h>
#include <string.h>

bool race_on;
bool race_instrumented;
static int depth;

static void begin_race(void)
{
    const char *wish = getenv("LATERAL_CHECK");
    if (depth++ || !wish || strcmp(wish, "race") != 0)
        return;
    race_open(race_clock_bytes);
    race_clock_reset();
    pshmem_sync_all();
    race_on = true;
    if (!race_instrumented && race_me == 0)
        lat_check_tell(
            "--check=race: oshcc --race has not built this program, so its own loads and stores are not seen: calls "
            "alone are compared with each other; compile and link it with oshcc --race");
}

void(shmem_init)(void)
{
    pshmem_init();
    begin_race();
}

int(shmem_init_thread)(int requested, int *provided)
{
    int status = pshmem_init_thread(requested, provided);
    if (status == 0)
        begin_race();
    return status;
}

void(start_pes)(int npes)
{
    (void)npes;
    shmem_init();
}

void(shmem_finalize)(void)
{
    if (!lat_check_finalized() && depth && --depth == 0 && race_on) {
        pshmem_barrier_all(); /* no PE looks at the shadow any more */
        race_on = false;
        race_pending_forget();
        race_close();
    }
    pshmem_finalize();
}
