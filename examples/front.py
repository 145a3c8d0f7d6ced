#!/usr/bin/env python3
"""Which designs of LAD are on the front of speed and area? Through the SQLite extension, with the standard library alone.

    python3 front.py [CONTEXT]

The extension is looked for as dse.so where libraries are, or where $DSE_EXTENSION says. Python's sqlite3 must have been built with
extensions; Debian's is.
"""
import os
import sqlite3
import sys

context = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
db = sqlite3.connect(":memory:")
if not hasattr(db, "enable_load_extension"):
    sys.exit("this Python's sqlite3 loads no extensions; Debian's python3 does")
db.enable_load_extension(True)
db.load_extension(os.environ.get("DSE_EXTENSION", "dse"))

# A parameter with values is an axis; a range is one of whole numbers. A table of your own may give the values, too.
db.execute("CREATE TEMP TABLE sram AS SELECT value / 4.0 AS mib FROM json_each('[2,4,6,8,10,12,14,16]')")
db.execute(
    f"""CREATE VIRTUAL TABLE temp.best USING pareto("
        SELECT tiles, sram_mib, tokens_per_s, area_mm2, energy_mj FROM sram, lad
        WHERE tiles BETWEEN 1 AND 16 AND sram_mib = mib AND context = {context} AND status = 'ok'",
        "max tokens_per_s, min area_mm2")"""
)
print(f"{'tiles':>5} {'sram_mib':>8} {'tokens_per_s':>12} {'area_mm2':>9} {'energy_mj':>9}")
for row in db.execute("SELECT * FROM best ORDER BY tokens_per_s"):
    print("{:5d} {:8g} {:12.1f} {:9.2f} {:9.3f}".format(*row))
(volume,) = db.execute("SELECT hypervolume('max,min', tokens_per_s, area_mm2, 0, 1000) FROM best").fetchone()
print(f"hypervolume up to 0 tokens/s and 1000 mm2: {volume:.0f}")
