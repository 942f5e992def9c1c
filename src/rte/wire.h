/* Bytes as text that PMI servers pass on untouched: letters, digits, '-' and '_', four characters for three bytes. */
#ifndef RTE_WIRE_H
#define RTE_WIRE_H

#include <stddef.h>

#define WIRE_TEXT(bytes) (((bytes) + 2) / 3 * 4) /* characters, without the final 0 */

/* text has room for WIRE_TEXT(bytes) + 1. */
void wire_encode(char *text, const void *data, size_t bytes);

/* data has room for 3 bytes per 4 characters. Returns the number of bytes, or -1. */
long wire_decode(void *data, const char *text);

#endif
