#include "rte/wire.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Encodes 3 bytes as four characters; one byte left over as two, two bytes as three. */
void wire_encode(char *text, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    for (; bytes > 0; from += 3) {
        size_t now = bytes < 3 ? bytes : 3;
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (i < now ? from[i] : 0);
        for (size_t i = 0; i <= now; i++)
            *text++ = digits[group >> (18 - 6 * i) & 63];
        bytes -= now;
    }
    *text = 0;
}

long wire_decode(void *data, const char *text)
{
    unsigned char *to = data;
    size_t left = strlen(text);
    if (left % 4 == 1)
        return -1;
    for (; left > 0; text += 4) {
        size_t now = left < 4 ? left : 4;
        uint32_t group = 0;
        for (size_t i = 0; i < 4; i++) {
            const char *digit = i < now ? strchr(digits, text[i]) : digits;
            if (!digit)
                return -1;
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (size_t i = 0; i + 1 < now; i++)
            *to++ = (unsigned char)(group >> (16 - 8 * i));
        left -= now;
    }
    return to - (unsigned char *)data;
}
