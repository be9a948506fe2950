import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../../src/telemetry/log.ts";
import { temporaryFolder } from "../../store/support.ts";
import { OtlpReceiver } from "../../support/otlp.ts";
import { TestGateway } from "../support/in-process.ts";
import { bearer, Mailbox, post } from "../support/sign-in.ts";

const EMAIL = "planted-ada@planted.example";
const ADDRESS = "203.0.113.77";
const FROM = { "x-forwarded-for": ADDRESS };
const JSON_TYPE = { "content-type": "application/json" };

/**
 * One person uses everything that there is; then logs of every level, the decision log, metrics and traces are searched for
 * who it was.
 */
async function traffic() {
  const folder = temporaryFolder();
  const [receiver, mailbox] = [await OtlpReceiver.start(), await Mailbox.start()];
  onTestFinished(() => receiver.close());
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const gateway = await TestGateway.start({
    log: createLog({ level: "debug", pretty: false, destination }),
    chains: { "route/failing": ["status=503"], "route/refusing": ["status=400"] },
    config: {
      server: { trusted_proxies: ["127.0.0.1"] },
      auth: { signup: { tier: "Max", credits: 5 }, email: mailbox.settings },
      telemetry: {
        access_log: { users: true, addresses: true },
        decision_log: { file: join(folder, "decisions.jsonl") },
        otlp: { endpoint: receiver.url, interval: "1s" },
      },
      pipeline: [
        "auth",
        "plan-check",
        { use: "budget", options: { amount: 0.000001, period: "month", warn_at: "1%" } },
        "quota",
        "breaker",
        "stream-relay",
        "meter",
      ],
    },
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await gateway.stop();
    isStopped = true;
  };
  onTestFinished(stop);

  await post(`${gateway.url}/auth/login/verify`, { email: EMAIL, code: "000000" }, FROM);
  const code = await mailbox.ask(gateway.url, EMAIL, FROM);
  const answer = await post(`${gateway.url}/auth/login/verify`, { email: EMAIL, code }, FROM);
  const { access_token: token, user } = JSON.parse(answer.text) as { access_token: string; user: { id: string } };
  const asUser = { ...FROM, ...bearer(token), ...JSON_TYPE };
  const made = await gateway.send("/v1/user/key", { body: { name: "laptop" }, headers: asUser });
  const { id: keyId, key } = JSON.parse(made.text) as { id: string; key: string };
  const person = { id: user.id, key, tier: "Max" };
  for (const model of ["route/one", "route/failing", "route/refusing", "route/none", "route/one"])
    await gateway.chat(person, { model, user: user.id }, { headers: { ...FROM, ...bearer(key) } });
  for (const path of ["/v1/user", "/v1/user/ledger", "/v1/user/streams", "/nothing"])
    await gateway.send(path, { method: "GET", headers: { ...FROM, ...bearer(key) } });
  await gateway.send("/v1/user/streams/none", { method: "DELETE", headers: { ...FROM, ...bearer(key) } });
  const about = `/admin/users/${user.id}`;
  const operator = { headers: { ...FROM, ...JSON_TYPE } };
  await gateway.admin(about, operator);
  await gateway.admin(`/admin/users?search=${EMAIL}`, operator);
  await gateway.admin(about, { ...operator, method: "PATCH", body: { plan_tier: "Free" } });
  await gateway.admin(`${about}/sessions`, { ...operator, method: "DELETE" });
  await gateway.admin(`/admin/ledger?user=${user.id}`, operator);
  // Faults of a store, whose messages name the user: those that are answered, and those in the background.
  const fault = (): never => {
    throw new Error(`cannot make a key of an unknown user: ${user.id}`);
  };
  const { store } = gateway;
  for (const name of ["findUser", "windows", "writeAudit"] as const) {
    const own = store[name];
    Object.assign(store, { [name]: fault });
    await gateway.send("/v1/user", { method: "GET", headers: { ...FROM, ...bearer(key) } });
    await gateway.admin(about, { ...operator, method: "PATCH", body: { plan_tier: "Max" } }).catch(() => {});
    Object.assign(store, { [name]: own });
  }
  await gateway.send(`/v1/user/key/${keyId}`, { method: "DELETE", headers: asUser });
  await mailbox.ask(gateway.url, EMAIL, FROM);
  const metrics = (await gateway.admin("/metrics")).text;
  await expect.poll(() => receiver.spans.length, { timeout: 10_000 }).toBeGreaterThan(5);
  await stop();
  const decisions = await readFile(join(folder, "decisions.jsonl"), "utf8");
  const places = { log: lines.join(""), decisions, metrics, traces: receiver.text };
  return { places, lines, names: { "the user's id": user.id, "the key's id": keyId, key, email: EMAIL } };
}

test("logs, the decision log, metrics and traces name nobody; an address is where it is asked for", async () => {
  const { places, lines, names } = await traffic();
  expect(lines.some((line) => line.includes("budget of this month"))).toBe(true);
  expect(lines.filter((line) => line.includes("request failed")).length).toBeGreaterThan(0);
  for (const [place, text] of Object.entries(places)) {
    expect(text.length > 100 || place).toBe(true);
    for (const [what, name] of Object.entries(names)) {
      const found = text.split("\n").find((line) => line.includes(name));
      expect(found && `${what} in ${place}: ${found}`).toBeUndefined();
    }
  }
  const told = lines.map((line) => JSON.parse(line) as { msg: string; address?: string });
  const requests = told.filter(({ msg }) => msg === "request");
  expect(new Set(requests.map(({ address }) => address))).toEqual(new Set([ADDRESS]));
  const others = told.map(({ address, ...line }) => (line.msg === "request" ? line : { address, ...line }));
  const { log: _log, ...rest } = places;
  expect(JSON.stringify([others, rest])).not.toContain(ADDRESS);
});
