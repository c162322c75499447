"""A compactor that keeps the last sentences, as many as fit, and counts four characters as a token."""

import json
import re
import sys

for line in sys.stdin:
    request = json.loads(line)
    sentences = re.split(r"(?<=[.!?])\s+", request["text"].strip())
    kept, room = [], 4 * request["tokens"]
    while sentences and len(sentences[-1]) + 1 <= room:
        kept.insert(0, sentences.pop())
        room -= len(kept[0]) + 1
    print(json.dumps({"id": request["id"], "text": " ".join(kept)}), flush=True)
