import { type OutgoingHttpHeaders, request } from "node:http";
import { dirname, join } from "node:path";
import type { Endpoint, Json } from "../../../../src/kit/index.ts";
import { openStore } from "../../../../src/store/open.ts";
import { tier } from "../../support/gateway-config.ts";
import { type Answer, eventually } from "../../support/http.ts";
import { type Books, TestGateway, type TestUser } from "../../support/in-process.ts";
import { ALL_ENDPOINTS, openAt, placeOf } from "../../support/formats.ts";
import { chains, KIND_CHAINS, PLACES } from "../../support/kinds.ts";
import { VERSION, type Where } from "./case.ts";

/** The gateways on which errors are met. */
export interface Stage {
  readonly well: TestGateway;
  /** Its store is away. */
  readonly away: TestGateway;
  readonly awayUser: TestUser & { readonly token: string };
  /** Its one client address has no requests left. */
  readonly strict: TestGateway;
  /** Others' bodies, which never come to their end, take all the room for bodies and uploads. */
  readonly full: TestGateway;
  /** Of a gateway that was stopped while it waited for its upstreams, by endpoint. */
  readonly ended: ReadonlyMap<Where | "messages, versioned", Ended>;
}

export interface Ended {
  readonly answer: Answer;
  readonly books: Pick<Books, "used" | "ledger" | "running">;
}

const IMPATIENT = { timeouts: { first_byte: "100ms", total: "100ms" } };
const TOUCHY = { breaker: { consecutive: 1, minimum: 1, ratio: 1, window: "30s", open_for: "1h", max_open_for: "1h" } };
const names = Object.values(PLACES).map(({ model }) => model.replace("route/", ""));
const upstreams = (suffix: string, settings: Json, count: number) =>
  names.flatMap((name) => Array.from({ length: count }, (_, index) => [`${name}${suffix}-${index + 1}`, settings]));

export async function startStage(): Promise<Stage> {
  const [well, strict, away, ended] = [await startWell(), await startStrict(), await startAway(), await endAll()];
  return { well, strict, full: await startFull(), ...away, ended };
}

/** Every kind has a model with each suffix, which says how its upstreams are. */
function startWell(): Promise<TestGateway> {
  return TestGateway.start({
    chains: {
      ...KIND_CHAINS,
      ...chains("-max", ["-"], { tier: "Max" }),
      ...chains("-throws", ["-"]),
      ...chains("-broken", ["?status=500", "?status=503"]),
      ...chains("-locked", ["?status=404", "?status=410"]),
      ...chains("-slow", ["?first_byte=1h", "?first_byte=1h"]),
      ...chains("-mixed", ["?first_byte=1h", "?status=500"]),
      ...chains("-open", ["?status=500"]),
      ...chains("-picky", ["?status=400&message=it%20is%20too%20long", "-"]),
      "route/listen-live": { kind: "transcription", scripts: ["-"], realtime: true },
    },
    config: {
      server: { trusted_proxies: ["127.0.0.1"] },
      upstreams: Object.fromEntries([
        ...upstreams("-slow", IMPATIENT, 2),
        ...upstreams("-mixed", IMPATIENT, 1),
        ...upstreams("-open", TOUCHY, 1),
      ]),
      auth: { oauth: { corp: { issuer: "http://127.0.0.1:1", client_id: "a", client_secret: "b" } } },
      tiers: {
        Limited: { access: ["Free"], limits: { day: 100, hour: 50, minute: 20, streams: 5 } },
        ...Object.fromEntries(
          ["Day", "Hour", "Minute", "Streams"].map((name) => [name, tier({ [name.toLowerCase()]: 0 })]),
        ),
      },
      pipeline: [
        "auth",
        "plan-check",
        "quota",
        "breaker",
        { use: "./throws.ts", when: { models: ["*-throws"] } },
        "stream-relay",
        "meter",
      ],
    },
    files: {
      "throws.ts": `export default {
        name: "throws", stage: "transform", schema: new URL("./throws.schema.json", import.meta.url),
        setup() { return { transform() { throw new Error("secret /etc/passwd of the plugin"); } }; },
      };`,
      "throws.schema.json": '{"type":"object","additionalProperties":false}',
    },
  });
}

async function startStrict(): Promise<TestGateway> {
  const strict = await TestGateway.start({
    chains: KIND_CHAINS,
    config: { server: { ip_limit: { requests: 1, window: "1h" } } },
  });
  await strict.get("/v1/models");
  return strict;
}

/** Four users announce a quarter each, and send the beginning only. */
/** A request whose body never comes to its end; begun again when the server has waited for it long enough. */
function begin(url: string, headers: OutgoingHttpHeaders): void {
  request(url, { method: "POST", headers })
    .on("response", (response) => response.resume())
    .on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "ECONNREFUSED") begin(url, headers);
    })
    .write("{");
}

async function startFull(): Promise<TestGateway> {
  const full = await TestGateway.start({
    chains: KIND_CHAINS,
    config: { server: { body_limit: "256KiB", body_memory: "1MiB", upload_space: "1MiB" } },
  });
  const types = {
    "/v1/chat/completions": "application/json",
    "/v1/audio/transcriptions": "multipart/form-data; boundary=b",
  };
  for (let quarter = 0; quarter < 4; quarter += 1) {
    const { key } = await full.user();
    for (const [path, type] of Object.entries(types)) {
      const headers = { authorization: `Bearer ${key}`, "content-type": type, "content-length": 256 * 1024 };
      begin(`${full.url}${path}`, headers);
    }
  }
  const user = await full.user();
  for (const endpoint of ["chat", "transcription"] as const) {
    await eventually(async () => (await openAt(full, user, endpoint, {}, {}).whole()).status === 503);
  }
  return full;
}

async function startAway(): Promise<Pick<Stage, "away" | "awayUser">> {
  const away = await TestGateway.start({ chains: KIND_CHAINS });
  const user = await away.user();
  const awayUser = { ...user, token: await away.token(user) };
  await away.store.close();
  return { away, awayUser };
}

/** Stops a gateway while it waits for the upstreams of one request to each endpoint. */
async function endAll(): Promise<Stage["ended"]> {
  const ending = await TestGateway.start({ chains: { ...KIND_CHAINS, ...chains("-mute", ["?first_byte=1h"]) } });
  const user = await ending.user();
  const open = (endpoint: Endpoint, headers = {}) =>
    openAt(ending, user, endpoint, { model: `${placeOf(endpoint).model}-mute` }, { headers });
  const calls = [
    ...ALL_ENDPOINTS.map((endpoint) => [endpoint, open(endpoint)] as const),
    ["messages, versioned", open("messages", VERSION)] as const,
  ];
  await eventually(() => ending.simulator.ledger().length === calls.length);
  await ending.gateway.close();
  const store = await openStore(`sqlite:${join(dirname(ending.file), "gateway.db")}`, {
    serving: false,
    now: ending.clock.now,
  });
  const { day, hour, minute } = await store.windows(user.id, { day: null, hour: null, minute: null, streams: null });
  const used = { day: day.used, hour: hour.used, minute: minute.used };
  const books = { used, ledger: await store.ledger(user.id), running: await store.running(user.id) };
  const ended = new Map<Where | "messages, versioned", Ended>();
  for (const [endpoint, call] of calls) ended.set(endpoint, { answer: await call.whole(), books });
  await store.close();
  await ending.stop();
  return ended;
}
