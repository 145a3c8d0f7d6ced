# Completion of dse in bash: dse itself knows commands, options, models, parameters and values.
_dse() {
    local line words cur candidate candidates files=
    line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    cur=${words[${#words[@]} - 1]}
    COMPREPLY=()
    mapfile -t candidates < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    for candidate in "${candidates[@]}"; do
        if [[ $candidate == :files ]]; then
            files=yes
            continue
        fi
        candidate=${candidate%%$'\t'*}
        [[ $COMP_WORDBREAKS == *=* && $cur == *=* ]] && candidate=${candidate#"${cur%"${cur##*=}"}"} # bash completes what is behind the last =
        COMPREPLY+=("$candidate")
    done
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${cur##*=}")
    fi
}
complete -F _dse dse
