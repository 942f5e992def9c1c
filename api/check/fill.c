/* What a PE writes down of a call that others compare with theirs (step.c, begun.c). Any thread. */
#include "step.h"
#include "base/where.h"

#include <stdio.h>
#include <stdlib.h>

void step_fill(struct step *step, const char *call, const char *key, const void *from, const char *format,
               va_list arguments)
{
    char values[72];
    vsnprintf(values, sizeof values, format, arguments);
    *step = (struct step){.place = where_of(from)};
    snprintf(step->key, sizeof step->key, "%s(%s)", key, values);
    snprintf(step->text, sizeof step->text, "%s(%s)", call, values);
}

void *step_room(int size, size_t bytes)
{
    void *room = calloc((size_t)size, bytes);
    if (!room)
        lat_check_fail("the checking layer", "memory", "exhausted");
    return room;
}
