#include "uccs/core/due.h"

uint32_t uccs_due, uccs_due_endless, uccs_due_idle;
