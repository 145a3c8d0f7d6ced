#!/bin/sh
# Needs: zsh fish
# Completion: what dse offers, and what the shells make of it, driven as they drive it.
. "$(dirname "$0")/lib.sh"
SOURCE=$2
offers() { # WHAT WORD...: it is among what is offered, without its meaning
    want=$1
    shift
    "$DSE" complete -- "$@" >out || fail "dse complete fails"
    cut -f1 out | grep -qxF -- "$want" || fail "\"$want\" is not offered for: dse $*: $(cat out)"
}
offers sweep sw
offers lad eval ''
offers tiles= eval lad --set ti
offers machine describe lad ma
offers tiles describe lad ti
offers llm=llama2-7b eval lad --set llm=llama2
offers phase=prefill eval lad --set phase=
offers tiles=6 eval lad --set tiles=
offers --breakdown eval lad --br
offers --format=csv eval lad --format=
offers csv eval lad -f ''
offers event-level eval lad --fidelity ev
offers refine sweep s.toml --fidelity re
offers tokens_per_s pareto a.db --max tok
offers context pareto a.db --per con
offers llama2-7b list llms ''
offers memories list m
offers :files query ''
[ -z "$("$DSE" complete -- nothing '')" ] || fail "something is offered behind a command that there is not"
[ -z "$("$DSE" complete -- eval lad --set nothing=)" ] || fail "values of no parameter"
"$DSE" complete -- eval '' | grep -q "^lad$(printf '\t')" || fail "lad has no meaning"

# bash, in a program that does what readline does.
cat >drive.bash <<'BASH'
source "$1"
dse=$2
shift 2
compopt() { :; }
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
COMP_LINE="$dse $*"
COMP_POINT=${#COMP_LINE}
_dse
printf '%s\n' "${COMPREPLY[@]}"
BASH
in_bash() { # WANT LINE
    bash drive.bash "$SOURCE/completions/dse.bash" "$DSE" "$2" >out || fail "completion in bash fails"
    grep -qxF -- "$1" out || fail "bash: \"$1\" is not offered for \"$2\": $(cat out)"
}
in_bash tiles= 'eval lad --set ti'
in_bash llama2-7b 'eval lad --set llm=llama2-7'
in_bash --timeline 'eval lad --time'
in_bash eval 'ev'
: >here.db
in_bash here.db 'query he'

# zsh and fish, where they are there.
if command -v zsh >/dev/null; then
    zsh -n "$SOURCE/completions/_dse" || fail "zsh cannot read its completion"
fi
if command -v fish >/dev/null; then
    ln -s "$DSE" dse
    PATH=$WORK:$PATH fish --no-config -c "source $SOURCE/completions/dse.fish; complete -C 'dse eval lad --set ti'" >out
    grep -q '^tiles=' out || fail "fish: tiles= is not offered: $(cat out)"
    PATH=$WORK:$PATH fish --no-config -c "source $SOURCE/completions/dse.fish; complete -C 'dse ev'" >out
    grep -q '^eval' out || fail "fish: eval is not offered: $(cat out)"
fi
