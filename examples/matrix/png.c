#include "png.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t crc_of(uint32_t crc, const unsigned char *data, size_t length)
{
    for (crc = ~crc; length--; data++) {
        crc ^= *data;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put32(FILE *file, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc(value >> shift & 255, file);
}

/* A chunk is written in pieces; its checksum runs along. */
static uint32_t piece(FILE *file, uint32_t crc, const void *data, size_t length)
{
    fwrite(data, 1, length, file);
    return crc_of(crc, data, length);
}

static void write_header(FILE *file, int width, int height)
{
    unsigned char header[13] =
        {width >> 24, width >> 16, width >> 8, width, height >> 24, height >> 16, height >> 8, height, 8, 0, 0, 0, 0};
    put32(file, sizeof header);
    put32(file, piece(file, piece(file, 0, "IHDR", 4), header, sizeof header));
}

/* Each line is one stored block: a filter byte and the pixels. */
static void write_lines(FILE *file, const unsigned char *grey, int width, int height)
{
    uint32_t a = 1, b = 0;
    put32(file, 2 + (uint32_t)height * (5 + 1 + (uint32_t)width) + 4);
    uint32_t crc = piece(file, piece(file, 0, "IDAT", 4), "\x78\x01", 2);
    for (int y = 0; y < height; y++) {
        unsigned length = (unsigned)width + 1;
        unsigned char block[6] = {y == height - 1, length, length >> 8, ~length, ~length >> 8, 0};
        const unsigned char *line = grey + (size_t)y * width;
        crc = piece(file, piece(file, crc, block, sizeof block), line, (size_t)width);
        b = (b + a) % 65521; /* the filter byte, zero */
        for (int x = 0; x < width; x++) {
            a = (a + line[x]) % 65521;
            b = (b + a) % 65521;
        }
    }
    unsigned char sum[4] = {b >> 8, b, a >> 8, a};
    put32(file, piece(file, crc, sum, sizeof sum));
}

int png_write(const char *name, const unsigned char *grey, int width, int height)
{
    FILE *file = fopen(name, "wb");
    if (!file)
        return -1;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    write_header(file, width, height);
    write_lines(file, grey, width, height);
    put32(file, 0);
    put32(file, piece(file, 0, "IEND", 4));
    int failed = ferror(file);
    return fclose(file) || failed ? -1 : 0;
}
