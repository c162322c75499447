#!/bin/bash
# SQLite's full-text search as a memory: the model answers from the best texts. Run it as `sqlite_memory.sh FOLDER 5`,
# with an empty folder. SQLite itself reads and writes the JSON (version 3.38 or newer).
database=$1/memory.db
best=${2:-5}

sql() { sqlite3 -bail "$database" 2>&1; }

while IFS= read -r line; do
    request="'${line//\'/\'\'}'"
    read -r id op < <(sql <<< "SELECT $request ->> 'id' || ' ' || ($request ->> 'op');")
    reply="SELECT json_object('id', $id, 'ok', json('true'));"
    case $op in
        reset) reply="DROP TABLE IF EXISTS texts; CREATE VIRTUAL TABLE texts USING fts5(text); $reply" ;;
        add) reply="INSERT INTO texts VALUES ($request ->> 'text'); $reply" ;;
        answer)
            words=$(sql <<< "SELECT $request ->> 'question';" | grep -oE '\w+' | sed 's/.*/"&"/' | paste -sd' ')
            hits="SELECT rowid FROM texts WHERE texts MATCH '${words// / OR }' ORDER BY rank LIMIT $best"
            found="SELECT text FROM texts WHERE rowid IN ($hits) ORDER BY rowid"
            reply="SELECT json_object('id', $id, 'found', json_group_array(text)) FROM ($found);" ;;
        *) reply="SELECT json_object('id', $id, 'error', 'there is no op $op');" ;;
    esac
    output=$(sql <<< "$reply") || output="{\"id\": $id, \"error\": \"sqlite3 failed: ${output//[^[:alnum:] ]/}\"}"
    echo "$output"
done
