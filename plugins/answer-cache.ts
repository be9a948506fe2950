import { createHash, hash } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import {
  answerOfEvents,
  type Call,
  definePlugin,
  eventsOfAnswer,
  type Exchange,
  isJson,
  isStoreUnavailable,
  type Json,
  type KeepWish,
  MAX_VALUE_BYTES,
  type OwnReply,
  replay,
  replayBytes,
  type PublicSnapshot,
  type StreamEvent,
  type Usage,
  type WholeAnswer,
} from "#kit";
import type { AnswerCacheOptions } from "#schema";

const MAX_TTL_MS = 30 * 86_400_000;
const MAX_BYTES = 2 * 1024 * 1024;
/** Of times and sizes. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  B: 1,
  KiB: 1024,
  MiB: 1024 * 1024,
};
/** Raised when what is kept takes another form: what was kept before is then not found. */
const FORM = 1;

/** Keeps answers, and gives them again to whom asks for the very same. */
export default definePlugin<AnswerCacheOptions>({
  name: "answer-cache",
  stage: "transform",
  schema: new URL("../schemas/plugins/answer-cache.schema.json", import.meta.url),
  setup(options, { storage, log, snapshot }) {
    const { ttl = "1h", scope = "user", max_size: maxSize = "256KiB", charge } = options;
    const [ttlMs, maxBytes] = [amountOf("ttl", ttl, MAX_TTL_MS), amountOf("max_size", maxSize, MAX_BYTES)];
    const except: ReadonlySet<string> = new Set([...(options.except ?? ["length"]), "content_filter", "error"]);

    const find = async (key: string): Promise<Kept | null> => {
      try {
        const packed = await storage.get(key);
        return packed === null ? null : unpacked(packed);
      } catch (err) {
        // Without it an upstream serves.
        if (!isStoreUnavailable(err)) log.warn({ err }, "cached answer could not be read");
        return null;
      }
    };

    const keep = async (key: string, answer: WholeAnswer): Promise<void> => {
      const { usage, dropped } = answer;
      const kept = keptOf(answer);
      const ends = endsOf(kept);
      if (ends.some((end) => except.has(end))) return;
      const text = zstdCompressSync(JSON.stringify({ ...kept, usage, dropped } satisfies Kept)).toString("base64");
      if (text.length > MAX_VALUE_BYTES) return;
      try {
        await storage.set(key, text, ttlMs);
      } catch (error) {
        if (!isStoreUnavailable(error)) throw error;
      }
    };

    return {
      async answer(call, exchange): Promise<OwnReply | KeepWish | null> {
        if (options.answers !== "all" && !isDeterministic(call)) return null;
        const control = exchange.header?.("cache-control")?.toLowerCase() ?? "";
        if (control.includes("no-store")) return null;
        const key = await keyOf(call, exchange, scope, snapshot);
        const kept = control.includes("no-cache") ? null : await find(key);
        const reply = kept === null ? null : replyOf(kept, call, charge === "full" ? kept.usage : null);
        if (reply !== null) return { ...reply, dropped: kept?.dropped, headers: { "X-Gateway-Cache": "hit" } };
        return {
          type: "keep",
          maxBytes,
          headers: { "X-Gateway-Cache": "miss" },
          keep: (answer) => keep(key, answer),
        };
      },
    };
  },
});

/** @throws Error for more than there may be. */
function amountOf(name: string, text: string, most: number): number {
  const [, count, unit = ""] = /^(\d+)(\w+)$/.exec(text) ?? [];
  const amount = Number(count) * (UNITS[unit] ?? NaN);
  if (amount <= most) return amount;
  throw new Error(`${name} is ${text}, which is too much`);
}

/** What is kept of an answer, as JSON. */
type Kept = Pick<WholeAnswer, "usage" | "dropped"> & KeptAnswer;
type KeptAnswer =
  | { readonly type: "answer"; readonly body: Json }
  | { readonly type: "events"; readonly events: readonly StreamEvent[] }
  | { readonly type: "bytes"; readonly contentType: string; readonly base64: string };

function keptOf(answer: WholeAnswer): KeptAnswer {
  switch (answer.type) {
    case "answer":
      return { type: "answer", body: forAnyone(answer.body) };
    case "events":
      return {
        type: "events",
        events: answer.events.map(({ raw: _raw, ...event }) => ({ ...event, data: forAnyone(event.data) })),
      };
    case "bytes": {
      const base64 = Buffer.from(answer.bytes).toString("base64");
      return { type: "bytes", contentType: answer.contentType, base64 };
    }
  }
}

/** Some upstreams repeat what the request said of its user: the next one may be another's. */
function forAnyone(body: Json): Json {
  const own = Object.keys(body).filter((name) => NOT_ASKED.has(name));
  return own.length === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !own.includes(name)));
}

/** The kept answer as the call wants it; null where that loses what only its own form has. */
function replyOf(kept: Kept, call: Call, usage: Usage | null): OwnReply | null {
  if (kept.type === "bytes") {
    const source = replayBytes(Buffer.from(kept.base64, "base64"));
    return call.kind === "speech" ? { type: "bytes", contentType: kept.contentType, source, usage } : null;
  }
  if (call.stream) {
    const events = kept.type === "events" ? kept.events : eventsOfAnswer(kept.body, kept.usage);
    return events === null ? null : { type: "events", source: replay(events), usage };
  }
  const body = kept.type === "answer" ? kept.body : answerOfEvents(kept.events);
  return body === null ? null : { type: "answer", body, usage };
}

function unpacked(packed: string): Kept {
  const text = zstdDecompressSync(Buffer.from(packed, "base64")).toString();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `keep` has written
  return JSON.parse(text) as Kept;
}

/** Why the choices of an answer ended; a stream that never said it has ended in an error. */
function endsOf(kept: KeptAnswer): readonly string[] {
  if (kept.type === "bytes") return [];
  const bodies = kept.type === "answer" ? [kept.body] : kept.events.map(({ data }) => data);
  const choices = bodies.flatMap((body): readonly unknown[] => (Array.isArray(body["choices"]) ? body["choices"] : []));
  const ends = choices.map((choice) => (isJson(choice) ? choice["finish_reason"] : null));
  const told = ends.filter((end) => typeof end === "string");
  return kept.type === "events" && told.length === 0 ? ["error"] : told;
}

function isDeterministic({ kind, body }: Call): boolean {
  return kind === "embedding" || kind === "rerank" || (kind === "chat" && body["temperature"] === 0);
}

/** What says how an answer is sent or for whom, and nothing of what it says. */
const NOT_ASKED: ReadonlySet<string> = new Set(
  (
    "stream stream_options user metadata safety_identifier prompt_cache_key prompt_cache_retention " +
    "prompt_cache_options store client_metadata"
  ).split(" "),
);

/** The digest of all that an answer depends on: who may have it, the model and what serves it, and the call. */
async function keyOf(
  call: Call,
  { principal, model }: Exchange,
  scope: "user" | "shared",
  { upstreams }: PublicSnapshot,
): Promise<string> {
  const { kind, dialect, headers, upload } = call;
  const owner = scope === "user" ? principal.userId : null;
  // A call of the Responses format brings the client's own request along, which an upstream of that format gets.
  const asked = ["body", "native", "request"].map((field) => askedIn(Reflect.get(call, field)));
  const file = upload === undefined ? null : [upload.name, await digestOf(upload.read())];
  // After a reload a name may stand for another provider.
  const served = model.chain.flatMap(({ targets }) =>
    targets.map(({ upstream, model: name, parameters }) => {
      const { dialect: speaks, addressDigest, vendor } = upstreams[upstream] ?? {};
      return [upstream, speaks, addressDigest, vendor, name, parameters];
    }),
  );
  const all = [FORM, owner, model.id, served, kind, dialect ?? "chat", sorted(headers ?? {}), asked, file];
  return hash("sha256", JSON.stringify(all, plainly));
}

/** Fields in an order of their own: clients write them in any. What is in them counts as it stands. */
function askedIn(body: unknown): unknown {
  return isJson(body) ? sorted(body).filter(([name]) => !NOT_ASKED.has(name)) : null;
}

function sorted(fields: Json): readonly (readonly [string, unknown])[] {
  return Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function plainly(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

async function digestOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest("hex");
}
