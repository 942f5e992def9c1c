/* Jobs on other hosts: a launcher that reaches them takes over. One thread. */
#ifndef LAUNCH_DELEGATE_H
#define LAUNCH_DELEGATE_H

#include "hosts.h"

/* Replaces this process by a launcher, or exits with one line when there is none. */
_Noreturn void delegate(const struct options *options, const struct hosts *hosts);

#endif
