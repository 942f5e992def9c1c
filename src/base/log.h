/* One line per message on stderr, whole, with the PE in front: "lateral: PE 3: text".
 *
 * Any thread. A line is built on the stack and written by one write(2), so lines of different PEs
 * and threads are not torn. log_identity is set once the PE is known; before, lines say "lateral: ". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

#define LAT_EXIT 1 /* exit status of a job that the library ends because of an error */

void log_identity(int pe);
int log_pe(void);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_vline(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
/* What all PEs of a job find at once, so that one line does: PE 0 says it, and another only when it is still there after
 * some seconds, for then PE 0 has not found it. */
void log_alike(int pe, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Only when SHMEM_DEBUG or LATERAL_DEBUG is set. */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug_enable(int on);

#endif
