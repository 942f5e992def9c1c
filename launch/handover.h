/* Jobs on other hosts: a launcher that reaches them takes over. */
#ifndef LAUNCH_HANDOVER_H
#define LAUNCH_HANDOVER_H

#include "hosts.h"

/* Replaces this process by a launcher, or exits with one line when there is none. */
_Noreturn void handover(const struct options *options, const struct hosts *hosts);

#endif
