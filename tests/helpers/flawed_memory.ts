// A memory of known flaws (flawed_memory.py) in TypeScript.
import { createInterface } from "node:readline";

type Request = { id: number; op: string; text?: string; question?: string };
type Flaw = (texts: string[]) => string[];

const withdrawal = /My [a-z ]+ is no longer in [^.]*\.|My [a-z ]+ has left [^.]*\. I will not tell[^.]*\./g;
const flaws: Record<string, Flaw> = {
  faithful: (texts) => texts,
  forget: (texts) => texts.filter((_, number) => number % 3 !== 2),
  stale: (texts) =>
    texts.filter((text, number) => texts.findIndex((other) => other.split(" ")[0] === text.split(" ")[0]) === number),
  withdrawn: (texts) => texts.map((text) => text.replace(withdrawal, "Hello.")),
};
const flaw: string = process.argv[2];
let texts: string[] = [];

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const request: Request = JSON.parse(line);
  let reply: object = { ok: true };
  if (request.op === "reset") texts = [];
  else if (request.op === "add") texts.push(request.text ?? "");
  else reply = flaw === "invent" ? { reply: "FINAL ANSWER: hallway" } : { found: flaws[flaw](texts) };
  console.log(JSON.stringify({ id: request.id, ...reply }));
});
