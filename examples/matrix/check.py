#!/usr/bin/env python3
"""Runs the ring under the matrix tool: every PE must have talked to its neighbour, and the picture
must be a PNG of the right size whose dark cells are those pairs."""
import csv
import os
import struct
import subprocess
import sys
import tempfile
import zlib

library, oshrun, program = sys.argv[1:]
PES = 4


def pixels(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, body, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        content, crc = data[at + 8:at + 8 + length], struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        assert zlib.crc32(kind + content) == crc, f"checksum of {kind}"
        if kind == b"IHDR":
            size = struct.unpack(">II", content[:8])
        body += content if kind == b"IDAT" else b""
        at += 12 + length
    lines = zlib.decompress(body)
    return size, lines


with tempfile.TemporaryDirectory() as folder:
    stem = os.path.join(folder, "m")
    subprocess.run([oshrun, "-n", str(PES), "-x", f"LD_PRELOAD={library}", "-x", f"MATRIX_OUT={stem}", program], check=True)
    cells = {(int(r["from"]), int(r["to"])): int(r["bytes"]) for r in csv.DictReader(open(stem + ".csv"))}
    (width, height), lines = pixels(stem + ".png")
    assert width == height == 512, (width, height)
    scale = width // PES
    for source in range(PES):
        assert cells.get((source, (source + 1) % PES), 0) > 0, f"PE {source} never talked to its neighbour: {cells}"
        for target in range(PES):
            grey = lines[(source * scale + scale // 2) * (width + 1) + 1 + target * scale + scale // 2]
            assert (grey < 255) == ((source, target) in cells), (source, target, grey)
print("matrix as expected:", cells)
