/**
 * Whatever can come over the public port, for as long as wished.
 *
 * `npm run fuzz -- [--seed N] [--minutes 10] [--from INDEX] [--inputs N]`; exit code 1 on any failure. The seed and an
 * input's number make its bytes: `--seed N --from INDEX --inputs 1` sends that one alone.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string", default: "10" },
    from: { type: "string", default: "0" },
    inputs: { type: "string", default: "1e9" },
  },
});
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
const options = { seed, minutes: Number(values.minutes), from: Number(values.from), inputs: Number(values.inputs) };
for (const [name, value] of Object.entries(options))
  if (!(value >= 0)) throw new Error(`--${name} is a number that is not negative`);

console.log(`seed ${seed}`);
const { failures, ...result } = await fuzz({ ...options, onSample: (sample) => console.log(JSON.stringify(sample)) });
console.log(JSON.stringify(result));
for (const failure of failures) console.error(failure);
if (failures.length > 0) console.error(`again: npm run fuzz -- --seed ${seed} --from INDEX --inputs 1`);
process.exitCode = failures.length > 0 ? 1 : 0;
