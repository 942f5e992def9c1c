/* The larger parts of lateral-info. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

/* Prints everything as one JSON object; refused is the mistake in a variable, or null. */
void info_json(const char *refused);

/* Tries what a job needs here and prints a line for each thing. Returns the exit status: 1 when something that a job on
 * this machine needs does not work, else 0. */
int info_doctor(const char *refused);

/* The PE of the small job that info_doctor starts. Returns its exit status. */
int info_doctor_pe(void);

#endif
