#include "hosts.h"

#include "message.h"

void hosts_hand_over(const struct options *options)
{
    if (options->hosts)
        say_usage("%s: this oshrun starts PEs on its own machine only", options->hosts);
}
