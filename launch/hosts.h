/* Jobs on several hosts are started by the launchers that exist there. */
#ifndef LAUNCH_HOSTS_H
#define LAUNCH_HOSTS_H

#include "options.h"

/* Decides where the job runs, before anything is started. Returns when it is this machine;
 * otherwise it does not return. */
void hosts_hand_over(const struct options *options);

#endif
