"""save_file, by the format's description."""
import json
import struct

CODES = {"F16": ("e", 2), "F32": ("f", 4), "I64": ("q", 8)}


def flat(rows):
    return [x for row in rows for x in flat(row)] if isinstance(rows, list) else [rows]


def save_file(tensors, path):
    header, data = {}, b""
    for name, t in tensors.items():
        code, size = CODES[t.dtype]
        values = flat(t.rows)
        header[name] = {"dtype": t.dtype, "shape": list(t.shape), "data_offsets": [len(data), len(data) + size * len(values)]}
        data += struct.pack("<%d%s" % (len(values), code), *values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
