/* Writes each message to stderr as one whole line with the PE in front: "lateral: PE 3: text".
 *
 * Any thread. A line is built on the stack and written by one write(2), so lines of different PEs and threads are not
 * torn. The library calls log_identity when it knows the PE; before that, lines start with "lateral: ". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

#define LAT_EXIT 1 /* exit status of a job that the library ends because of an error */

void log_identity(int pe);
int log_pe(void);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_vline(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
/* For what a call of the program has to say of itself: the line ends with the place that has called the library, when the text does not
 * name it. */
void log_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_vmistake(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
/* For a fault that all PEs of a job find at once, so that one line suffices. PE 0 prints it at once. Another PE prints
 * it only if it is still running after some seconds, because then PE 0 has not found the fault. */
void log_alike(int pe, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints only when SHMEM_DEBUG or LATERAL_DEBUG is set. */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug_enable(int on);

#endif
