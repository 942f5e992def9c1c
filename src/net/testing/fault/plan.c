#include "net/testing/fault/fault.h"

#include "net/testing/wrapper.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"none", "open", "address", "connect", "send", "receive", "finish", "break"};

static const char *read_kind(const char *value, struct fault_plan *plan)
{
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(value, kinds[i]) == 0) {
            plan->fails = (enum fault_kind)i;
            return 0;
        }
    return "LATERAL_FAULT: fail= takes open, address, connect, send, receive, finish or break";
}

static const char *read_one(const char *name, const char *value, void *of)
{
    struct fault_plan *plan = of;
    if (strcmp(name, "fail") == 0)
        return read_kind(value, plan);
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    if (end == value || *end)
        return "LATERAL_FAULT: a number is missing";
    if (strcmp(name, "seed") == 0)
        plan->seed = number;
    else if (strcmp(name, "hold") == 0)
        plan->hold = (uint32_t)number;
    else if (strcmp(name, "steps") == 0)
        plan->steps = (uint32_t)number;
    else if (strcmp(name, "pe") == 0)
        plan->pe = (int)number;
    else if (strcmp(name, "at") == 0)
        plan->at = number;
    else
        return "LATERAL_FAULT: takes seed, hold, steps, fail, pe and at";
    return 0;
}

const char *fault_plan_read(const char *text, struct fault_plan *plan)
{
    *plan = (struct fault_plan){.seed = 1, .hold = 50, .steps = 20, .pe = -1, .at = 1};
    return transport_plan_read("LATERAL_FAULT", text, read_one, plan);
}
