// What every Node runner does: read a case a line, run it, write what came of it a line.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const out = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true; // what an SDK prints goes nowhere
console.warn = console.error = () => {};

/** The version of an installed package. */
const version = (name) => JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

/** Run cases until the input ends; `run` gives {text, calls}: what the SDK returned, and the request numbers of its calls. */
export async function serve(name, run) {
  for await (const line of createInterface({ input: process.stdin })) {
    const given = JSON.parse(line);
    const ran = [];
    const look = ({ n, i }) => {
      ran.push([Number(n), Number(i)]);
      return { found: `${n}.${i}` };
    };
    const told = { version: version(name), ran, text: "", calls: [], error: null };
    try {
      const { text, calls } = await run({ ...given, look });
      Object.assign(told, { text: text ?? "", calls: calls.map(Number) });
    } catch (error) {
      Object.assign(told, { error: error.code ?? error.name, message: String(error.message).slice(0, 300) });
    }
    out(JSON.stringify(told) + "\n");
  }
}
