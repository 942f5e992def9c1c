/* Writes JSON to standard output, one value a line. Commas and indentation come by themselves.
 *
 * One thread, one document at a time; the nesting is at most 8 deep. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>

/* Inside an object each value has a key; inside a list, and for the whole document, the key is null. */
void json_open(const char *key, char bracket); /* '{' or '[' */
void json_close(void);
void json_text(const char *key, const char *text); /* null text is null */
void json_number(const char *key, double number);
void json_flag(const char *key, bool flag);

#endif
