#!/bin/bash
# A memory that keeps every text, and leaves the answer to the model. Texts stay JSON strings, so no parser is needed.
string='"(([^"\\]|\\.)*)"'
found=()
while IFS= read -r line; do
    [[ $line =~ \"id\":\ *([0-9]+) ]] && id=${BASH_REMATCH[1]}
    [[ $line =~ \"op\":\ *\"([a-z]+)\" ]] && op=${BASH_REMATCH[1]}
    case $op in
        reset) found=(); echo "{\"id\": $id, \"ok\": true}" ;;
        add) [[ $line =~ \"text\":\ *$string ]] && found+=("\"${BASH_REMATCH[1]}\"")
            echo "{\"id\": $id, \"ok\": true}" ;;
        answer) list=$(IFS=,; echo "${found[*]}"); echo "{\"id\": $id, \"found\": [$list]}" ;;
        *) echo "{\"id\": $id, \"error\": \"there is no op $op\"}" ;;
    esac
done
