// A memory that keeps every text, and leaves the answer to the model. Run it with `node memory.ts` (Node.js 22.18 or newer).
import { createInterface } from "node:readline";

type Request = { id: number; op: "reset" | "add" | "answer" | "size"; text?: string; question?: string };

const texts: string[] = [];

function replyTo(request: Request): object {
  switch (request.op) {
    case "reset":
      texts.length = 0;
      return { ok: true, size: true };
    case "add":
      texts.push(request.text ?? "");
      return { ok: true };
    case "answer":
      return { found: texts };
    case "size":
      return { bytes: Buffer.byteLength(texts.join("")), entries: texts.length };
    default:
      return { error: `there is no op ${request.op}` };
  }
}

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const request: Request = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...replyTo(request) }));
});
