#include "uccs/core/late.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"

#define FIRST_LOOKS 64  /* each of the first looks reads the clock */
#define LATER_LOOKS 256 /* afterwards one look in this many reads it */

static time_t seconds_now(void)
{
    return (time_t)(clock_nanoseconds() / CLOCK_SECOND) + 1; /* never 0 */
}

bool uccs_late_now(struct uccs_late *late)
{
    if (late->told || (++late->looks > FIRST_LOOKS && late->looks % LATER_LOOKS))
        return false;
    uint64_t patience = env_number(ENV_PATIENCE);
    time_t now = seconds_now();
    if (!late->since)
        late->since = now;
    late->told = patience && now > late->since + (time_t)patience;
    return late->told;
}

void uccs_late_handler(uint32_t source, uint32_t id, uint32_t context)
{
    log_line("uccs: a message of PE %u waits for handler %u of context %u, which is not registered here, and those "
             "behind it wait too; register it",
             source, id, context);
}
