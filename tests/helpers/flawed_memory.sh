#!/bin/bash
# A memory of known flaws (flawed_memory.py) in shell.
flaw=$1
string='"(([^"\\]|\\.)*)"'
withdrawal='My [a-z ]+ is no longer in [^.]*\.|My [a-z ]+ has left [^.]*\. I will not tell[^.]*\.'
texts=()
join() { local IFS=,; echo "$*"; }
while IFS= read -r line; do
    [[ $line =~ \"id\":\ *([0-9]+) ]] && id=${BASH_REMATCH[1]}
    [[ $line =~ \"op\":\ *\"([a-z]+)\" ]] && op=${BASH_REMATCH[1]}
    reply='"ok": true'
    case $op in
        reset) texts=() ;;
        add) [[ $line =~ \"text\":\ *$string ]] && texts+=("\"${BASH_REMATCH[1]}\"") ;;
        answer)
            found=()
            declare -A first=()
            for number in "${!texts[@]}"; do
                text=${texts[$number]}
                subject=${text%% *}
                case $flaw in
                    forget) (( number % 3 == 2 )) && continue ;;
                    stale) [[ ${first[$subject]} ]] && continue; first[$subject]=1 ;;
                    withdrawn) text=$(sed -E "s/$withdrawal/Hello./g" <<< "$text") ;;
                esac
                found+=("$text")
            done
            reply="\"found\": [$(join "${found[@]}")]"
            [[ $flaw == invent ]] && reply='"reply": "FINAL ANSWER: hallway"' ;;
    esac
    echo "{\"id\": $id, $reply}"
done
