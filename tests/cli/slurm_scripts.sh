#!/bin/sh
# What --slurm submits, told by programs that stand for SLURM's: job arrays that the cluster takes, plug-ins, paths.
. "$(dirname "$0")/lib.sh"
SOURCE=$(cd "$2" && pwd)
mkdir bin
cat >bin/sbatch <<'SH'
#!/bin/sh
echo "$*" >>"$SUBMITTED"
wc -l <"$SUBMITTED" | tr -d ' '
SH
cat >bin/scontrol <<'SH'
#!/bin/sh
[ "$*" = "show config" ] && printf 'MaxArraySize            = 11\nMaxJobCount             = 10000\n'
SH
chmod +x bin/*
export PATH="$WORK/bin:$PATH" SUBMITTED="$WORK/submitted.txt"
write_sweep s.toml
"$DSE" sweep s.toml --slurm --workers 25%4 2>said.txt || fail "25 workers: $(cat said.txt)"
cut -d / -f 1 submitted.txt >what.txt
printf -- '--parsable --array=1-10%%4 \n--parsable --array=1-10%%4 \n--parsable --array=1-5%%4 \n--parsable --dependency=afterany:1:2:3 \n' >want.txt
diff want.txt what.txt || fail "a cluster whose arrays have ten tasks was given others"
grep -q 'job 1:2:3 has 25 workers, job 4 merges' said.txt || fail "said: $(cat said.txt)"
grep -q '^#SBATCH --array=1-10%4$' results/test.leases/worker.sbatch || fail "the script has another array: $(cat results/test.leases/worker.sbatch)"
for wrong in 0 x 4% 4%0 '%3' -2; do
    if "$DSE" sweep s.toml --slurm --workers "$wrong" 2>err.txt; then fail "--workers $wrong was taken"; fi
    grep -q -- '--workers: ' err.txt || fail "--workers $wrong: $(cat err.txt)"
done

# Without scontrol: SLURM's default of 1000.
rm bin/scontrol
rm -f submitted.txt
"$DSE" sweep s.toml --slurm --workers 1001 --lease other 2>said.txt || fail "1001 workers: $(cat said.txt)"
[ "$(grep -c -- '^--parsable --array=1-1000 \|^--parsable --array=1-1 ' submitted.txt)" -eq 2 ] || fail "1001 workers: $(cat submitted.txt)"

# Jobs know the models that the call knows.
sed 's/^models = .*/models = ["array"]/; /^power\|^area\|^tiles\|^sram_mib\|^channel/d; s/area_mm2 = .*//' s.toml >array.toml
"$DSE" --plugin "$SOURCE/examples/array.toml" sweep array.toml --slurm --dry-run >scripts.txt 2>err.txt || fail "a plug-in: $(cat err.txt)"
[ "$(grep -c -- "--plugin '$SOURCE/examples/array.toml' sweep" scripts.txt)" -eq 3 ] || fail "jobs do not get the plug-in: $(cat scripts.txt)"

# SLURM reads a backslash in a path as its own.
mkdir 'back\slash'
cp s.toml 'back\slash'
cd 'back\slash'
if "$DSE" sweep s.toml --slurm 2>err.txt; then fail "a path with a backslash was submitted"; fi
grep -q 'has a character that Slurm cannot have in a path' err.txt || fail "a backslash: $(cat err.txt)"
