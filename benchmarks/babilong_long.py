"""Ten BABILong items of ten million tokens: made, recounted whole by the tokenizer, solved by the oracle.

python -m benchmarks.babilong_long [FOLDER]
"""

import sys
import time

from carrara import corpora
from carrara.items import registry
from carrara.items.item import make
from carrara.items.prompt import count

LENGTH = 10 << 20


def main(spec: str) -> None:
    print("item                       made, s  counted, s  tokens      solved, s  answer")
    given = {"haystack": corpora.open(spec).hash, "background": "all", "repeat": "true"}
    for n, task in enumerate(registry.select("babilong")[::2]):
        clock = time.perf_counter()
        item = make(task, length=LENGTH, index=n, params=given, tokenizer="gpt2")
        messages = item.messages()
        made = time.perf_counter()
        counted = count(item.prompt.measure.tokenizer, "chat", messages)
        whole = time.perf_counter()
        read = item.solve(messages)
        solved = time.perf_counter()
        assert counted == LENGTH, (item.id, counted)
        assert read == item.question.gold, (item.id, read)
        print(
            f"{task:15} test-0-{n}  {made - clock:9.2f}  {whole - made:10.2f}  {counted:,}  {solved - whole:9.2f}  "
            f"{read}, right"
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sotu")
