# Axes that one level alone reads: the sweep says so at each fidelity.
sweep() { # PARAMETER VALUES
    cat <<TOML
[sweep]
name = "s"
models = ["lad"]
[params]
context = 64
batch = 1
$1 = $2
[objectives]
tokens_per_s = "max"
TOML
}
sweep dma_window_kib '[16, 32]' >events.toml
sweep dram_efficiency '[0.8, 0.9]' >closed.toml
for fidelity in closed-form event-level refine; do
    for file in events closed; do
        "$DSE" sweep $file.toml --fidelity $fidelity --dry-run >/dev/null
        echo "[$file.toml $fidelity: $?]" >&2
    done
done
