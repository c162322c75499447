// MiniSearch as a memory: full-text search of every text, and the model answers from the best. `npm install minisearch`
import { createInterface } from "node:readline";
import MiniSearch from "minisearch";

type Request = { id: number; op: string; text: string; number: number; question: string };

const best = Number(process.argv[2] ?? 5);
const newIndex = () => new MiniSearch({ fields: ["text"], storeFields: ["text"] });
let index = newIndex();

function replyTo(request: Request): object {
  switch (request.op) {
    case "reset":
      index = newIndex();
      return { ok: true };
    case "add":
      index.add({ id: request.number, text: request.text });
      return { ok: true };
    case "answer": {
      const hits = index.search(request.question).slice(0, best);
      return { found: hits.sort((one, other) => one.id - other.id).map((hit) => hit.text) };
    }
    default:
      return { error: `there is no op ${request.op}` };
  }
}

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const request: Request = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...replyTo(request) }));
});
