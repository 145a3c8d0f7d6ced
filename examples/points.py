#!/usr/bin/env python3
"""How many tiles does LAD want? Through libdse, with the standard library alone.

    python3 points.py [CONTEXT]

The library is looked for as libdse.so.1, or where $LIBDSE says.
"""
import ctypes as c
import os
import sys

dse = c.CDLL(os.environ.get("LIBDSE", "libdse.so.1"))
doubles, texts = c.POINTER(c.c_double), c.POINTER(c.c_char_p)


class Input(c.Structure):
    _fields_ = [("name", c.c_char_p), ("numbers", doubles), ("texts", texts)]


class Output(c.Structure):
    _fields_ = [("name", c.c_char_p), ("numbers", doubles), ("texts", texts)]


for name, result, arguments in (
    ("dse_problems_new", c.c_void_p, []),
    ("dse_problems_text", c.c_char_p, [c.c_void_p]),
    ("dse_open", c.c_void_p, [c.c_char_p, c.c_void_p]),
    ("dse_points_new", c.c_void_p, [c.c_void_p, c.c_char_p, c.c_void_p]),
    ("dse_points_set", c.c_bool, [c.c_void_p, c.c_char_p, c.c_char_p, c.c_void_p]),
    ("dse_points_evaluate", c.c_bool,
     [c.c_void_p, c.c_size_t, c.POINTER(Input), c.c_size_t, c.POINTER(Output), c.c_size_t, c.c_void_p]),
    ("dse_points_free", None, [c.c_void_p]),
    ("dse_close", None, [c.c_void_p]),
    ("dse_problems_free", None, [c.c_void_p]),
):
    function = getattr(dse, name)
    function.restype, function.argtypes = result, arguments


def checked(result):
    if not result:
        sys.exit(dse.dse_problems_text(problems).decode().rstrip())
    return result


problems = dse.dse_problems_new()
opened = checked(dse.dse_open(None, problems))
points = checked(dse.dse_points_new(opened, b"lad", problems))
checked(dse.dse_points_set(points, b"context", (sys.argv[1] if len(sys.argv) > 1 else "2048").encode(), problems))

n = 16
tiles = (c.c_double * n)(*range(1, n + 1))
speed, area, status = (c.c_double * n)(), (c.c_double * n)(), (c.c_char_p * n)()
inputs = (Input * 1)(Input(b"tiles", tiles, None))
outputs = (Output * 3)(Output(b"tokens_per_s", speed, None), Output(b"area_mm2", area, None), Output(b"status", None, status))
checked(dse.dse_points_evaluate(points, n, inputs, 1, outputs, 3, problems))

print("tiles,tokens_per_s,area_mm2,status")
for i in range(n):
    print(f"{tiles[i]:g},{speed[i]!r},{area[i]!r},{status[i].decode()}")

dse.dse_points_free(points)
dse.dse_close(opened)
dse.dse_problems_free(problems)
