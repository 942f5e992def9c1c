# Completion of oshrun and lateral-info for bash. The options come from the program's own --help, so this file names none.

# Prints the options that COMMAND --help lists, one a line.
_lateral_options() {
    "$1" --help 2>/dev/null | sed -n 's/^  \(-.*\)/\1/p' | sed 's/   *.*//' | grep -oE -- '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,'
}

# Says what follows OPTION on the command line, as --help writes it: N, DIR, core|none; nothing when it stands alone.
_lateral_value() {
    "$1" --help 2>/dev/null | sed -n 's/^  \(-.*\)/\1/p' | sed 's/   *.*//' |
        awk -v option="$2" '{ n = split($0, words, /[ ,]+/); value = words[n] ~ /^-/ ? "" : words[n]
            for (i = 1; i <= n; i++) if (words[i] == option) { print value; exit } }'
}

# Sets program to the index of the first word that is neither an option nor an option's value; 0 when there is none yet.
_lateral_find_program() {
    local i=1
    program=0
    while [ "$i" -lt "$COMP_CWORD" ]; do
        case ${COMP_WORDS[i]} in
        --) program=$((i + 1)); return ;;
        -*) [ -z "$(_lateral_value "${COMP_WORDS[0]}" "${COMP_WORDS[i]}")" ] || i=$((i + 1)) ;;
        *) program=$i; return ;;
        esac
        i=$((i + 1))
    done
}

_lateral_oshrun() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} value program
    COMPREPLY=()
    _lateral_find_program
    if [ "$program" -gt 0 ]; then
        [ "$program" -gt "$COMP_CWORD" ] && mapfile -t COMPREPLY < <(compgen -c -f -- "$current") && return
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
    fi
    value=
    case $before in -*) value=$(_lateral_value "${COMP_WORDS[0]}" "$before") ;; esac
    case $value in
    FILE) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    DIR) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    *'|'*) mapfile -t COMPREPLY < <(compgen -W "${value//|/ }" -- "$current") ;;
    'VAR'*) mapfile -t COMPREPLY < <(compgen -e -- "$current") ;;
    ?*) ;;
    '')
        case $current in
        -*) mapfile -t COMPREPLY < <(compgen -W "$(_lateral_options "${COMP_WORDS[0]}")" -- "$current") ;;
        *) mapfile -t COMPREPLY < <(compgen -c -f -- "$current") ;;
        esac
        ;;
    esac
}

complete -o filenames -F _lateral_oshrun oshrun oshrun.lateral lateral-info
