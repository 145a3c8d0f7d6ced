#!/bin/sh
# Needs: slurm-wlm munge
# A job array of workers and a merge after it, under a real SLURM of one machine: its workers killed at random and cancelled.
. "$(dirname "$0")/lib.sh"
for program in slurmctld slurmd munged sbatch squeue scancel sinfo; do
    PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null 2>&1 || missing="${missing:-} $program"
done
if [ -n "${missing:-}" ]; then
    echo "SKIPPED: there is no$missing: ./dev deps, or apt-get install slurm-wlm munge"
    exit 77
fi
export PATH=$PATH:/usr/sbin:/sbin
S=$WORK/slurm
stop() {
    scancel --full --user="$(id -un)" 2>/dev/null || true
    for program in slurmd slurmctld munged; do
        [ -f "$S/$program.pid" ] && kill "$(cat "$S/$program.pid")" 2>/dev/null || true
    done
    rm -rf "$WORK" 2>/dev/null || { sleep 1; rm -rf "$WORK"; }
}
trap stop EXIT

# ---- munged, slurmctld and slurmd on loopback -------------------------------------------------------------------------------------
mkdir -p "$S/state" "$S/spool"
head -c 1024 /dev/urandom >"$S/munge.key"
chmod 400 "$S/munge.key"
port=$((20000 + $$ % 20000))
cat >"$S/slurm.conf" <<CONF
ClusterName=dse
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$S/munge.socket
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.pid
SlurmctldLogFile=$S/slurmctld.log
SlurmdLogFile=$S/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
KillWait=2
MailProg=/bin/true
NodeName=node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$S/slurm.conf
runs() {
    munged --force --key-file="$S/munge.key" --socket="$S/munge.socket" --pid-file="$S/munged.pid" --log-file="$S/munged.log" \
        --seed-file="$S/munge.seed" && slurmctld && slurmd -N node || return 1
    tries=0
    until sinfo -h -o %t 2>/dev/null | grep -q idle; do
        sleep 0.25
        tries=$((tries + 1))
        [ $tries -lt 80 ] || return 1
    done
}
if ! runs >"$S/start.txt" 2>&1; then
    echo "SKIPPED: SLURM's daemons do not run here:"
    tail -n 4 "$S/start.txt" "$S"/*.log 2>/dev/null
    exit 77
fi

# ---- a sweep -----------------------------------------------------------------------------------------------------------------------
write_sweep s.toml
sed -i 's/points = 16/points = 8/' s.toml
"$DSE" sweep s.toml -q -o whole.db >/dev/null
"$DSE" sweep s.toml --slurm=--partition=all --dry-run >scripts.txt
grep -q '^#SBATCH --array=1-8$' scripts.txt && grep -q '^#SBATCH --partition=all$' scripts.txt || fail "scripts: $(cat scripts.txt)"
[ ! -e results ] && [ -z "$(squeue -h)" ] || fail "a dry run did something"
"$DSE" sweep s.toml --slurm=--partition=all --workers 8 --lease-age 2 2>said.txt || fail "said: $(cat said.txt)"
job=$(sed -n 's/^test: job \([0-9]*\) has 8 workers, job [0-9]* merges .*/\1/p' said.txt)
[ -n "$job" ] || fail "said: $(cat said.txt)"

seed=20261123 kills=0 tries=0
while [ $kills -lt 6 ] && [ $tries -lt 300 ] && squeue -h -j "$job" 2>/dev/null | grep -q .; do
    tries=$((tries + 1))
    sleep 0.1
    set -- results/test.leases/leases/alive/*
    [ -e "$1" ] && [ $((tries % 3)) -eq 0 ] || continue
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    shift $((seed / 4096 % $#))
    pid=${1%-*}
    kill -9 "${pid##*-}" 2>/dev/null && kills=$((kills + 1))
    [ $kills -ne 3 ] || scancel "${job}_5" 2>/dev/null || true
done
[ $kills -gt 2 ] || fail "only $kills workers were killed"
tries=0
while squeue -h 2>/dev/null | grep -q .; do
    sleep 0.25
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || fail "jobs do not end: $(squeue)"
done
[ -f results/test.db ] || fail "no merged database: $(cat results/test.leases/slurm-*)"
[ "$(rows results/test.db lad)" = "$(rows whole.db lad)" ] || fail "other rows after $kills kills"
[ "$(sqlite3 results/test.db 'select status, shard is null, done, feasible from run')" = "$(sqlite3 whole.db 'select status, 1, done, feasible from run')" ] ||
    fail "another run: $(sqlite3 results/test.db 'select * from run')"
[ "$(sqlite3 results/test.db 'select point from front order by 1' | sha256sum)" = "$(sqlite3 whole.db 'select point from front order by 1' | sha256sum)" ] ||
    fail "another front"
grep -q '^front: ' results/test.leases/slurm-merge-*.txt || fail "the merge printed no front: $(cat results/test.leases/slurm-merge-*.txt)"

# ---- srun, and a batch script that runs once --------------------------------------------------------------------------------------
sed -i 's/points = 8/points = 1/; s/"test"/"steps"/; s/^clock_ghz.*/clock_ghz = 1/' s.toml
srun --quiet -n 4 "$DSE" sweep s.toml -q -j 1 --shard auto >/dev/null 2>said.txt || fail "srun: $(cat said.txt)"
"$DSE" merge steps.db results/steps.shard-*-of-4.db 2>/dev/null
"$DSE" sweep s.toml -q -o whole_steps.db >/dev/null
[ "$(rows steps.db lad)" = "$(rows whole_steps.db lad)" ] || fail "other rows from the tasks of a step"
printf '#!/bin/sh\n"%s" sweep s.toml -q --shard auto\n' "$DSE" >once.sh
sbatch --quiet --wait -n 4 -o once.txt once.sh && fail "a batch script took one part of four"
grep -q 'a batch script of SLURM runs once' once.txt || fail "said: $(cat once.txt)"
