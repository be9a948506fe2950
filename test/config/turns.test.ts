import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { nextTurn } from "../../src/kit/index.ts";
import { options, scratch, SMALL } from "./support.ts";

const FREE = "price: { input_per_million: 0, output_per_million: 0 }";
const modelOf = (index: number) =>
  `  route/m${index}: { kind: chat, tier: Free, owned_by: a, ${FREE}, chain: [{ upstream: alpha, model: m }] }\n`;

/** SMALL with so many more models. */
async function loadMany(count: number, change = (text: string) => text): Promise<LoadResult> {
  const models = Array.from({ length: count }, (_, index) => modelOf(index));
  const file = join(await scratch(), "gateway.yaml");
  await writeFile(file, change(SMALL.replace("models:\n", `models:\n${models.join("")}`)));
  return loadConfig(options(file));
}

test("a load of many models lets requests have a turn after every 32 of them, in each of its stages", async () => {
  const load = { turns: 0, done: false };
  const counted = (async () => {
    for (; !load.done; load.turns++) await nextTurn();
  })();
  const { snapshot } = await loadMany(1_600);
  load.done = true;
  await counted;
  expect(Object.keys(snapshot!.models)).toHaveLength(1_601);
  // Read, references, plain data, scalars, links, snapshot.
  expect(load.turns).toBeGreaterThan(6 * (1_600 / 32));
});

test("of many models each mistake is found once, and so is one elsewhere", async () => {
  const { diagnostics } = await loadMany(600, (text) =>
    `server: { workers: many }\n${text}`
      .replace("route/m0: { kind: chat,", "route/m0: { kind: chats,")
      .replace("route/m599: { kind: chat,", "route/m599: { kind: chats,"),
  );
  const found = diagnostics.filter(({ severity }) => severity === "error").map(({ pointer }) => pointer);
  expect(found).toEqual(["/server/workers", "/models/route~1m0/kind", "/models/route~1m599/kind"]);
});
