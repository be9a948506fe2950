/**
 * Success by plan while free users send a multiple of what one process can serve: the method is in bench/README.md.
 *
 * `node bench/shed/run.ts [--seconds 20] [--factor 5] [--without] [--json]`; `--without` leaves `server.shed` out.
 */
import { parseArgs } from "node:util";
import { orEnd } from "../load/options.ts";
import type { ShedResult } from "./drive.ts";
import { FULL, measureShedding } from "./measure.ts";

const SHED = { loop_delay: "200ms", heap: 0.85 };

const options = orEnd(() => {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "20" },
      factor: { type: "string", default: "5" },
      without: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const [seconds, factor] = [Number(values.seconds), Number(values.factor)];
  if (!(seconds >= 1 && seconds <= 40)) throw new Error("--seconds is a number from 1 to 40");
  if (!(factor > 0 && factor <= 20)) throw new Error("--factor is a number up to 20");
  return { ...values, seconds, factor };
});

const { seconds, factor, without, json } = options;
const result = await measureShedding({ seconds, factor, shed: without ? null : SHED, sizes: FULL });
process.stdout.write(json ? `${JSON.stringify(result)}\n` : tableOf(result));

function tableOf({ capacity, plans }: ShedResult): string {
  const head = ["plan", "offered/s", "sent", "served", "refused", "failed", "success", "head p50", "head p99"];
  const rows = Object.entries(plans).map(([name, plan]) => [
    name,
    plan.offeredPerSecond.toFixed(0),
    plan.sent,
    plan.served,
    plan.refused,
    plan.failed,
    `${((plan.served / plan.sent) * 100).toFixed(2)} %`,
    `${plan.median} ms`,
    `${plan.p99} ms`,
  ]);
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const samples = Object.values(plans).flatMap(({ sample }) => (sample === "" ? [] : [`failed: ${sample}`]));
  return [`capacity: ${capacity.toFixed(0)} answers/s`, "", ...lines, ...samples, ""].join("\n");
}
