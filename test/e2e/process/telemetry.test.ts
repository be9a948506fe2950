import { existsSync, readFileSync, renameSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { OtlpReceiver } from "../../support/otlp.ts";
import { poll } from "../support/child.ts";
import { ask, configuration } from "../support/configuration.ts";
import { linesOf } from "../support/instances.ts";
import { type SimProcess, Workspace } from "../support/process.ts";

const hosts = new Workspace();
let sim: SimProcess;
let workspace: Workspace;

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.close());

const PROMPT = "words of nobody else";

const requestIds = (path: string) =>
  existsSync(path) ? [...readFileSync(path, "utf8").matchAll(/"request_id":"(\w+)"/g)].map(([, id]) => id) : [];

test("traces go where OpenTelemetry's variable says, and what waits is sent at the stop", async () => {
  const receiver = await OtlpReceiver.start();
  try {
    Object.assign(workspace.env, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: "my-gateway" });
    workspace.write("gateway.yaml", configuration(sim.origin));
    const gateway = await workspace.serve();
    const user = await workspace.account();
    expect((await gateway.chat(user.key, ask(PROMPT))).status).toBe(200);
    expect((await gateway.stop()).code).toBe(0);
    expect(new Set(receiver.spans.map(({ kind }) => kind))).toEqual(new Set([2, 3]));
    expect(receiver.spans[0]!.resource).toMatchObject({ "service.name": "my-gateway" });
    expect(receiver.points.map(({ name }) => name)).toContain("gen_ai.client.token.usage");
    expect(receiver.text).not.toContain(PROMPT);
  } finally {
    await receiver.close();
  }
});

test("a moved decision log is begun anew on SIGHUP; the line of a request tells times and users apart", async () => {
  const config = configuration(sim.origin);
  const telemetry = { decision_log: { file: "log/decisions.jsonl" }, access_log: { users: true } };
  workspace.write("gateway.yaml", { ...config, telemetry });
  const gateway = await workspace.serve();
  const [ada, bob] = [await workspace.account(), await workspace.account()];
  const file = workspace.path("log/decisions.jsonl");

  await gateway.chat(ada.key, ask(PROMPT), { requestId: "one" });
  await gateway.chat(bob.key, ask(PROMPT, { stream: true }), { requestId: "two" }).then((answer) => answer.text());
  await poll(() => requestIds(file).length === 2);
  renameSync(file, `${file}.moved`);
  gateway.child.process.kill("SIGHUP");
  // The reload may take a moment: until then lines go to the file that was moved.
  await poll(async () => {
    await gateway.chat(ada.key, ask(PROMPT), { requestId: "three" });
    return requestIds(file).includes("three");
  });
  await gateway.stop();
  expect(requestIds(`${file}.moved`).slice(0, 2)).toEqual(["one", "two"]);

  const lines = linesOf(gateway.child.stderr, /^request$/).filter(({ endpoint }) => endpoint === "chat");
  const [one, two, three] = ["one", "two", "three"].map((id) => lines.find(({ request_id }) => request_id === id)!);
  for (const line of [one!, two!]) {
    expect(line).toMatchObject({ status: 200, tier: "Free", upstream: "alpha", attempts: 1 });
    expect(line["upstream_ms"]).toBeGreaterThan(0);
    expect(line["gateway_ms"]).toBeGreaterThan(0);
  }
  expect(three!["user"]).toBe(one!["user"]);
  expect(two!["user"]).not.toBe(one!["user"]);
  const decisions = readFileSync(`${file}.moved`, "utf8");
  expect(decisions).toContain(`"user":"${String(one!["user"])}"`);
  for (const text of [decisions, gateway.child.stderr]) {
    for (const secret of [PROMPT, ada.key, ada.id, bob.id]) expect(text).not.toContain(secret);
  }
});

test("lines of failures alone, or none", async () => {
  const config = configuration(sim.origin);
  workspace.write("gateway.yaml", { ...config, telemetry: { access_log: { lines: "failures" } } });
  const gateway = await workspace.serve();
  const user = await workspace.account();
  await gateway.chat(user.key, ask(PROMPT), { requestId: "served" });
  await gateway.chat("rk_none", ask(PROMPT), { requestId: "refused" });
  workspace.replace("gateway.yaml", { ...config, telemetry: { access_log: { lines: "none" } } });
  await gateway.reload();
  await gateway.chat("rk_none", ask(PROMPT), { requestId: "late" });
  await gateway.stop();
  expect(linesOf(gateway.child.stderr, /^request$/).map(({ request_id }) => request_id)).toEqual(["refused"]);
});
