import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { options, scratch, SMALL } from "./support.ts";

const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const { privateKey: elliptic } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pem = (key: typeof rsa): string => key.export({ type: "pkcs8", format: "pem" });

const ACCOUNT = {
  type: "service_account",
  project_id: "p",
  private_key_id: "1",
  private_key: pem(rsa),
  client_email: "gateway@p.iam.gserviceaccount.com",
  token_uri: "https://oauth2.googleapis.com/token",
};

interface Found {
  readonly messages: readonly string[];
  /** What the upstream's key came to. */
  readonly key: string | undefined;
}

async function check(key: string, dialect = "gemini"): Promise<Found> {
  const folder = await scratch();
  const file = join(folder, "gateway.yaml");
  await writeFile(join(folder, "key.json"), key);
  const address = `{ dialect: ${dialect}, base_url: "https://h.example/v1", api_keys: ["\${file:key.json}"] }`;
  await writeFile(file, SMALL.replace('{ dialect: openai, base_url: "sim:", api_keys: [sim] }', address));
  const { diagnostics, snapshot } = await loadConfig(options(file));
  const findings = diagnostics.filter(({ rule }) => rule === "google-credentials");
  for (const { pointer } of findings) expect(pointer).toBe("/upstreams/alpha/api_keys/0");
  return {
    messages: findings.map(({ message }) => message),
    key: snapshot?.upstreams["alpha"]?.apiKeys[0]?.reveal(),
  };
}

test.each([
  ["as Google writes it", JSON.stringify(ACCOUNT, null, 2)],
  ["on one line", JSON.stringify(ACCOUNT)],
  ["without an endpoint", JSON.stringify({ ...ACCOUNT, token_uri: undefined })],
  ["with one on loopback", JSON.stringify({ ...ACCOUNT, token_uri: "http://127.0.0.1:9/token" })],
  ["of no JSON at all", "AIza-plain"],
  ["that stands for the machine's own", "application-default"],
])("a key %s is fine, and comes through whole", async (_what, key) => {
  expect(await check(`${key}\n`)).toEqual({ messages: [], key });
});

test.each([
  ["its private_key is elliptic", { private_key: pem(elliptic) }, "private_key"],
  ["its private_key is cut", { private_key: pem(rsa).slice(0, 300) }, "private_key"],
  ["its private_key is none", { private_key: 7 }, "private_key"],
  ["it has no client_email", { client_email: "" }, "client_email"],
  ["its endpoint is in the clear", { token_uri: "http://oauth2.googleapis.com/token" }, "token_uri"],
  ["its endpoint is no URL", { token_uri: "token" }, "token_uri"],
  ["its endpoint is a number", { token_uri: 7 }, "token_uri"],
  ["it is a user's", { type: "authorized_user" }, "no service account's key file"],
])("a key file is refused when %s", async (_what, change, said) => {
  const { messages } = await check(JSON.stringify({ ...ACCOUNT, ...change }));
  expect(messages).toEqual([expect.stringContaining(said)]);
  expect(messages.join("")).not.toMatch(/PRIVATE KEY|gserviceaccount/);
});

test("another dialect would send the private key: refused", async () => {
  const { messages } = await check(JSON.stringify(ACCOUNT), "openai");
  expect(messages).toEqual([
    expect.stringMatching(/the dialect openai would send the service account.s key file as it is$/),
  ]);
  expect((await check('{"any":"json"}', "openai")).messages).toEqual([]);
});
