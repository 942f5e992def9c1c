/* What the workers and the adapter of a life share. */
#include "net/testing/sim/inner.h"

const struct transport_events *sim_events;
struct sim_plan sim_plan;
__attribute__((visibility("default"))) struct sim_counts lateral_sim_counts;
