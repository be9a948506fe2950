/** Row 11: what a request costs a gateway with many keys, models and users, beside one with ten of each. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Booted, bootGateway, driveOn, type Site } from "./bench.ts";
import { DATABASE, prepareGateway } from "./gateway.ts";
import type { Comparison } from "./report.ts";
import type { RowOptions } from "./table.ts";
import { benchKey } from "./wire.ts";

const SMALL = { keys: 10, models: 10, users: 10 };

type Counts = typeof SMALL;

export async function measureMany(site: Site, options: RowOptions): Promise<readonly Comparison[]> {
  const { rounds, seconds, logLevel, sizes } = options;
  const { keys, models, users, active, warmup } = sizes;
  const large = { keys, models, users };
  const small = await bootWith(site, "small", SMALL, logLevel);
  const big = await bootWith(site, "large", large, logLevel);
  const cpuOf = async (booted: Booted, turns: { keys: number; models: number }) => {
    const how = { key: "none", mode: "json", seconds, warmup, warmupAnswers: 0, turns } as const;
    const { cpu, bad, sample } = await driveOn(site, booted, how);
    if (bad > 0) throw new Error(`wrong answers: ${sample}`);
    return cpu;
  };
  const few: number[] = [];
  const some: number[] = [];
  const all: number[] = [];
  // Both stay up and take turns, so that they are measured in the same minute, and warm.
  for (let round = -1; round < rounds; round++) {
    const measured = [
      await cpuOf(small, SMALL),
      await cpuOf(big, { keys: Math.min(active, keys), models: Math.min(active, models) }),
      await cpuOf(big, { keys, models }),
    ];
    if (round >= 0) [few, some, all].forEach((values, index) => values.push(measured[index]!));
  }
  await site.processes.end(small.child);
  await site.processes.end(big.child);
  const what = `${keys} keys, ${models} models, ${users} users`;
  const line = (calling: string, values: readonly number[]): Comparison => ({
    row: 11,
    what: `${what}: ${calling} call`,
    unit: "us CPU each",
    reference: { name: "10 of each", values: few },
    measured: { name: "gateway", values },
  });
  return [line(`${active} of them`, some), line("all", all)];
}

async function bootWith(site: Site, name: string, counts: Counts, logLevel: string): Promise<Booted> {
  const folder = join(site.folder, `many-${name}`);
  const gateway = await prepareGateway(folder, site.upstreamPort, undefined, counts.models);
  addPeople(join(folder, DATABASE), counts);
  return bootGateway(site, gateway, logLevel);
}

/** Copies the account that is there: a command for each would take hours. */
function addPeople(file: string, { keys, users }: Counts): void {
  const database = new DatabaseSync(file);
  const columnsOf = (table: string) =>
    database
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name));
  const copy = (table: string, changed: Readonly<Record<string, string>>) => {
    const columns = columnsOf(table);
    const values = columns.map((name) => changed[name] ?? `${table}.${name}`);
    return `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${table}`;
  };
  const userId = "printf('user_bench%07d', n)";
  const address = "printf('user-%07d@bench.example', n)";
  database.function("key_digest", (number) => hash("sha256", benchKey(Number(number)), "buffer"));
  const owner = `printf('user_bench%07d', n % ${users})`;
  const key = { id: "printf('key_bench%07d', n)", user_id: owner, digest: "key_digest(n)" };
  database.exec(`BEGIN;
    ${numbers(users)} ${copy("users", { id: userId, email: address })}, numbers;
    ${numbers(keys)} ${copy("api_keys", key)}, numbers;
    COMMIT;`);
  database.close();
}

function numbers(count: number): string {
  return `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})`;
}
