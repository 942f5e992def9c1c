#include "net/testing/sim/inner.h"

#include "net/testing/wrapper.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *field_of(struct sim_plan *plan, const char *name)
{
    if (strcmp(name, "hold") == 0)
        return &plan->hold;
    if (strcmp(name, "steps") == 0)
        return &plan->steps;
    if (strcmp(name, "order") == 0)
        return &plan->order;
    if (strcmp(name, "words") == 0)
        return &plan->words;
    return strcmp(name, "shares") == 0 ? &plan->shares : 0;
}

static const char *read_one(const char *name, const char *value, void *of)
{
    struct sim_plan *plan = of;
    char *end;
    const unsigned long long number = strtoull(value, &end, 10);
    uint32_t *field = field_of(plan, name);
    if (end == value || *end)
        return "LATERAL_SIM: a number is missing";
    if (field)
        *field = (uint32_t)number;
    else if (strcmp(name, "seed") == 0)
        plan->seed = number;
    else
        return "LATERAL_SIM: takes seed, hold, steps, order, shares and words";
    return 0;
}

const char *sim_plan_read(const char *text, struct sim_plan *plan)
{
    *plan = (struct sim_plan){.seed = 1, .hold = 0, .steps = 20, .shares = 1 << 20, .words = 4 | 8};
    return transport_plan_read("LATERAL_SIM", text, read_one, plan);
}
