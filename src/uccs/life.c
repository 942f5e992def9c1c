#include "uccs/life.h"

#include "base/env.h"
#include "base/log.h"
#include "rte/rte.h"
#include "uccs/counter.h"
#include "uccs/memory.h"
#include "uccs/region.h"
#include "uccs/stage.h"

#include <pthread.h>

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static int users;

static int begin(void)
{
    const char *why;
    if (env_load(&why) != 0) {
        log_line("%s", why);
        return -1;
    }
    log_debug_enable(env_flag(ENV_DEBUG));
    uccs_core.spin = (uint32_t)env_number(ENV_SPIN);
    struct uccs_memory_want want = {.heap_bytes = env_size(ENV_SYMMETRIC_SIZE),
                                    .region_bytes = env_size(ENV_MEMORY),
                                    .globals = env_flag(ENV_GLOBALS)};
    return rte_init() == 0 && uccs_memory_open(&want) == 0 ? 0 : -1;
}

int uccs_life_begin(void)
{
    pthread_mutex_lock(&life);
    int status = users ? 0 : begin();
    users += status == 0;
    pthread_mutex_unlock(&life);
    return status;
}

/* Barrier: nothing is under way to me any more, what is mine can be cleared. Barrier: it is. */
void uccs_life_end(void)
{
    pthread_mutex_lock(&life);
    if (--users == 0) {
        rte_node_barrier();
        uccs_counter_close();
        uccs_stage_close();
        uccs_region_close();
        uccs_memory_close();
        rte_finalize();
        rte_node_barrier();
    }
    pthread_mutex_unlock(&life);
}
