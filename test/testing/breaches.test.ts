import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { conformance, openPlugin } from "../../src/testing/index.ts";

const folder = mkdtempSync(join(tmpdir(), "breaches-"));
afterAll(() => rmSync(folder, { recursive: true }));

const CLOSED = { type: "object", additionalProperties: false };

interface Breach {
  /** Before the plugin, in its module. */
  readonly module?: string;
  readonly stage?: string;
  /** Of `setup(options, host)`. */
  readonly setup: string;
  readonly schema?: object;
  /** The cases that find it. */
  readonly breaks: RegExp;
}

const BREACHES: Readonly<Record<string, Breach>> = {
  "changes-messages": {
    setup: `return { transform(call) { call.body.messages?.push({ role: "user", content: "!" }); return call; } };`,
    breaks: /is served is settled/,
  },
  "changes-events": {
    setup: `return { event(event) { event.data.changed = true; return event; } };`,
    breaks: /served as a stream/,
  },
  "changes-options": { setup: `options.seen = true; return {};`, breaks: /stands in|is served|dispos/ },
  "lets-options-pass": { schema: { type: "object" }, setup: `return {};`, breaks: /closed schema|options/ },
  "counts-in-its-module": {
    module: "let count = 0;",
    setup: `return { transform: (call) => ({ ...call, body: { ...call.body, seed: (count += 1) } }) };`,
    breaks: /keeps no state/,
  },
  "shares-its-hooks": { module: "const hooks = {};", setup: `return hooks;`, breaks: /keeps no state/ },
  "leaves-a-timer": {
    setup: `host.schedule(host.now() + 1e9, () => {}); return {};`,
    breaks: /leaves no timer/,
  },
  "grants-its-caller": {
    setup: `return { async transform(call, { principal }) { await host.store.grant(principal.userId, 10n); return call; } };`,
    breaks: /is served is settled/,
  },
  "misspells-a-hook": { setup: `return { transfrom: (call) => call };`, breaks: /every hook that it returns/ },
  "takes-a-hook-of-another-stage": {
    setup: `return { relay: () => Promise.reject(new Error("taken over")) };`,
    breaks: /every hook that it returns/,
  },
  "throws-when-left": {
    stage: "account",
    setup: `return { settle(ending) { if (ending.kind === "client_gone") throw new Error("gone"); return bill; } };`,
    module:
      "const bill = { usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 }, estimated: false, charge: 0n };",
    breaks: /left by the client/,
  },
};

function write(name: string, { module = "", stage = "transform", setup, schema = CLOSED }: Breach): URL {
  writeFileSync(join(folder, `${name}.schema.json`), JSON.stringify(schema));
  const path = join(folder, `${name}.ts`);
  writeFileSync(
    path,
    `import { definePlugin } from "#kit";
${module}
export default definePlugin({
  name: "${name}",
  stage: "${stage}",
  schema: new URL("./${name}.schema.json", import.meta.url),
  setup(options, host) { ${setup} },
});
`,
  );
  return pathToFileURL(path);
}

describe("the suite finds a plugin that", () => {
  test.each(Object.entries(BREACHES))("%s", async (name, breach) => {
    const found: string[] = [];
    for (const { name: one, run } of conformance(write(name, breach))) {
      if (breach.breaks.test(one)) await run().catch(() => found.push(one));
    }
    expect(found).not.toEqual([]);
  });

  test("does nothing wrong, in none of its cases", async () => {
    const cases = conformance(write("harmless", { setup: "return {};", breaks: /./ }));
    for (const { run } of cases) await expect(run()).resolves.toBeUndefined();
  });
});

describe("a room", () => {
  test("says what is wrong with the plugin as a start does", async () => {
    const url = write("misnamed", { setup: "return {};", breaks: /./, stage: "nowhere" });
    await expect(openPlugin(url)).rejects.toThrow("stage must be one of");
    await expect(openPlugin("no-such")).rejects.toThrow("no plugin is named");
    await expect(openPlugin("quota", { config: { tiers: { Free: { acess: "all" } } } })).rejects.toThrow("acess");
  });

  test("gives up a hook that hangs on its own clock, and names it", async () => {
    const url = write("hangs", { setup: "return { transform: () => new Promise(() => {}) };", breaks: /./ });
    await using room = await openPlugin(url, { timeout: "20s" });
    const { status, took } = await room.request({ model: "route/chat" });
    expect({ status, took }).toEqual({ status: 500, took: 20_000 });
    expect(room.failures).toMatchObject([{ plugin: "hangs", error: { message: expect.stringContaining("20000 ms") } }]);
  });

  test("has the plugin's storage and providers that a test breaks", async () => {
    const setup = `return {
      async transform(call) {
        await host.storage.add("asked", 1n, 60_000);
        return call;
      },
    };`;
    await using room = await openPlugin(write("counts", { setup, breaks: /./ }), {
      faults: { primary: "?status=500" },
    });
    const first = await room.request({ model: "route/chat" });
    expect(first.upstream).toBe("backup");
    expect(first.sent.map(({ body }) => typeof body)).toEqual(["string", "string"]);
    expect(await room.storage.get("asked")).toBe("1");
    await room.advance(60_000);
    expect(await room.storage.get("asked")).toBeNull();
  });
});
