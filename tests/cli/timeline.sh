#!/bin/sh
# Timelines of the real models' event levels, as Perfetto reads them: JSON, every track named once, spans of a track one after the other. And the
# chart of the same run.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
sql() { sqlite3 :memory: "WITH e AS MATERIALIZED (SELECT value AS v FROM json_each(cast(readfile('run.json') AS text), '\$.traceEvents')),
    track AS (SELECT json_extract(v, '\$.pid') AS pid, json_extract(v, '\$.tid') AS tid, json_extract(v, '\$.args.name') AS name FROM e
        WHERE json_extract(v, '\$.name') = 'thread_name'),
    span AS (SELECT json_extract(v, '\$.pid') AS pid, json_extract(v, '\$.tid') AS tid, json_extract(v, '\$.name') AS name, json_extract(v, '\$.ts') AS ts,
        json_extract(v, '\$.dur') AS dur FROM e WHERE json_extract(v, '\$.ph') = 'X') $1"; }

for model in $("$DSE" list models --format csv | sed -n '2,$s/^"\([^"]*\)".*event-level.*/\1/p'); do
    set -- eval "$model" --fidelity event-level --catalog "$source/tests/data/thin_llm.toml" --set context=256
    for setting in llm=thin batch=2 layers_simulated=1; do # those that the model has
        ! "$DSE" describe "$model" --format csv | grep -q "^\"${setting%=*}\"," || set -- "$@" --set $setting
    done
    "$DSE" "$@" --timeline run.json --resources --format csv >resources.csv || fail "$model: no timeline"
    [ "$(sqlite3 :memory: "SELECT json_valid(cast(readfile('run.json') AS text))")" = 1 ] || fail "$model: not JSON: $(head -c 300 run.json)"
    [ "$(sql 'SELECT count(*) FROM span')" -gt 20 ] || fail "$model: $(sql 'SELECT count(*) FROM span') spans"
    wrong=$(sql 'SELECT DISTINCT pid, tid FROM span WHERE (pid, tid) NOT IN (SELECT pid, tid FROM track) OR name IS NULL OR ts < 0 OR dur <= 0 LIMIT 3')
    [ -z "$wrong" ] || fail "$model: spans without a named track, name or duration: $wrong"
    wrong=$(sql "SELECT name FROM track GROUP BY pid, name HAVING count(*) > 1 OR name = '' LIMIT 3")
    [ -z "$wrong" ] || fail "$model: two tracks of one name, or one without: $wrong"
    wrong=$(sql 'SELECT tid, ts FROM (SELECT *, lag(ts + dur) OVER (PARTITION BY pid, tid ORDER BY ts) AS before FROM span) WHERE ts < before - 1e-6 LIMIT 3')
    [ -z "$wrong" ] || fail "$model: spans that overlap: $wrong"
    [ "$(sql 'SELECT count(DISTINCT tid) FROM span')" -le "$(($(wc -l <resources.csv) - 1))" ] || fail "$model: more tracks than resources"
    "$DSE" "$@" --gantt >chart.txt || fail "$model: no chart"
    grep -q '%$' chart.txt || fail "$model: no chart: $(cat chart.txt)"
done
