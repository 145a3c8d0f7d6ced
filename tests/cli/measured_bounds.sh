#!/bin/sh
# What a design allows bounds what was measured: every step, first token, rate and throughput of an engine, put to the engine "fused-graph" at the same
# settings, comes out no slower than it was measured, but for 3 % that sources round and average by.
#     measured_bounds.sh DSE SOURCE
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C

cp -r "$source/catalog/measured" bounds
# Settings of the engines themselves go; links wait for nothing.
awk -v RS= -v ORS='\n\n' '!/\[\[bind\]\]/ || (/model    = "flashdecoding"/ && /engine = "(vllm|tensorrt-llm|gpt-fast)/ && !/power_|_gemm_us|attention_us|communication_us|moe_us|mla_us|stream_us|collective_us/)' \
    "$source/catalog/measured/bindings.toml" |
    sed -e '/^set /s/engine = "[^"]*"/engine = "fused-graph"/' -e 's/, [a-z_]*_[un]s = \("[^"]*"\|[0-9.]*\)//g' -e 's/, linked_devices = [0-9]*//' \
        -e 's/link_gbs = \("[^"]*"\)/link_gbs = \1, link_latency_us = 0/' >bounds/bindings.toml
"$DSE" validate --measured flashdecoding --from bounds --format csv >rows.csv || fail "dse validate --measured --from bounds"
sqlite3 rows.db '.mode csv' '.import rows.csv rows'
[ "$(sqlite3 rows.db "select count(*) > 250 and count(distinct source) >= 6 from rows where error_pct <> ''")" = 1 ] ||
    fail "few rows: $(sqlite3 rows.db 'select source, count(*) from rows group by 1')"
slower=$(sqlite3 rows.db "select source, regime, measured, modelled, settings from rows where error_pct <> ''
    and case when unit = '1/s' then modelled + 0.0 < measured * 0.97 else modelled + 0.0 > measured * 1.03 end")
[ -z "$slower" ] || fail "measured faster than its design allows:
$slower"
