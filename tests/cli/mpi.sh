#!/bin/sh
# Needs: openmpi-bin
# Parts of a sweep by the ranks of a real Open MPI.
. "$(dirname "$0")/lib.sh"
if ! command -v mpirun >/dev/null 2>&1; then
    echo "SKIPPED: there is no mpirun: ./dev deps, or apt-get install openmpi-bin"
    exit 77
fi
unset SLURM_ARRAY_TASK_ID SLURM_PROCID SLURM_JOB_ID PMI_RANK
write_sweep s.toml
sed -i 's/points = 16/points = 2/' s.toml
"$DSE" sweep s.toml -q -o whole.db >/dev/null
mpi() { OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --mca btl self,tcp --mca plm isolated "$@"; }
mpi -n 4 "$DSE" sweep s.toml -q -j 1 --shard auto >fronts.txt 2>said.txt || fail "mpirun: $(cat said.txt)"
[ "$(cd results && echo *)" = "$(for k in 1 2 3 4; do printf 'test.shard-%d-of-4.db ' $k; done | sed 's/ $//')" ] || fail "files: $(ls results)"
"$DSE" merge merged.db results/*.db
[ "$(rows merged.db lad)" = "$(rows whole.db lad)" ] || fail "other rows from four ranks"
[ "$(sqlite3 merged.db 'select status, shard is null, done from run')" = "$(sqlite3 whole.db 'select status, 1, done from run')" ] || fail "another run"

# Ranks within the tasks of a job array.
for task in 0 1; do
    export SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=2
    mpi -n 2 "$DSE" sweep s.toml -q -j 1 --shard auto >/dev/null 2>said.txt || fail "mpirun in an array: $(cat said.txt)"
done
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT
"$DSE" merge again.db results/*.db
[ "$(sqlite3 results/test.shard-4-of-4.db 'select count(*) from run')" = 1 ] || fail "ranks in an array had other parts"
[ "$(rows again.db lad)" = "$(rows whole.db lad)" ] || fail "other rows from an array of ranks"
