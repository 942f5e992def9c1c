/* The connection to a launcher that gives an address. */
#ifndef RTE_PMI_CALL_H
#define RTE_PMI_CALL_H

/* Connects to "host:port" (PMI_PORT). Returns the descriptor, or -1. */
int pmi_call(const char *port);

#endif
