. ./lib
unset SLURM_ARRAY_TASK_ID SLURM_PROCID SLURM_STEP_ID OMPI_COMM_WORLD_RANK PMI_RANK
good_sweep s.toml s; "$DSE" sweep s.toml --shard auto
SLURM_PROCID=0 SLURM_NTASKS=8 "$DSE" sweep s.toml --shard auto
