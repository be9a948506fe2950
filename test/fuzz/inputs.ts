import { isJson } from "../../src/kit/index.ts";
import { ENDPOINTS } from "../../src/server/endpoints.ts";
import { Random } from "../chaos/random.ts";
import { BOUNDARY, FORM_TYPE, formOf, type Part } from "../e2e/support/form.ts";
import { hostileSchema } from "./hostile-schema.ts";
import { CHAT_MODELS } from "./models.ts";
import { pick, sample, schemaOf, text } from "./sample.ts";

/** One connection's worth of bytes. */
export interface Input {
  readonly name: string;
  /** Null where the bytes are no request that can be told. */
  readonly request: { readonly method: string; readonly path: string } | null;
  readonly bytes: Buffer;
  /** Whether the bytes are one whole request, so that an answer must come. */
  readonly whole: boolean;
}

export interface Caller {
  readonly key: string;
  readonly token: string;
}

interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
}

/** JSON endpoints: the schema of their bodies and the models that the target has for them. */
const BODIES: readonly (readonly [path: string, schema: string, models: readonly string[]])[] = [
  ["/v1/chat/completions", "chat.schema.json", CHAT_MODELS],
  ["/v1/messages", "messages.schema.json", CHAT_MODELS],
  ["/v1/messages/count_tokens", "count-tokens.schema.json", ["route/one"]],
  ["/v1/responses", "responses-create.schema.json", CHAT_MODELS],
  ["/v1/embeddings", "embeddings.schema.json", ["route/embed"]],
  ["/v1/rerank", "rerank.schema.json", ["route/rank"]],
  ["/v2/rerank", "rerank.schema.json", ["route/rank"]],
  ["/v1/audio/speech", "speech.schema.json", ["route/voice"]],
  ["/v1/images/generations", "image.schema.json", ["route/paint"]],
];
const NASTY: readonly unknown[] = [
  "",
  "__proto__",
  "\u0000",
  "\ud800",
  "route/one",
  "data:;base64,",
  "漢".repeat(2_000),
  "x".repeat(70_000),
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  { type: "text" },
  { constructor: { prototype: {} } },
];
const HEADER_NAMES = (
  "accept accept-encoding anthropic-version authorization connection content-encoding content-length content-type " +
  "cookie expect forwarded host if-none-match keep-alive origin range te trailer transfer-encoding upgrade x-api-key " +
  "x-forwarded-for x-request-id x-sim"
).split(" ");
const HEADER_VALUES = (
  "|0|-1|1e9|chunked|gzip, chunked|100-continue|close|websocket|application/json|*/*|Bearer |Bearer rk_unknown|" +
  "Basic e30=|null|http://x|h2c|1.2.3.4, ::1, [::1]:80, x|a=b; a=c"
).split("|");
const FRAMES = [
  "GET / HTTP/1.1\r\n\r\n",
  "GET /v1/models\r\n\r\n",
  "GET http://elsewhere/v1/models HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /v1/models HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "GET /v1/models HTTP/9.9\r\nhost: x\r\n\r\n",
  "GET /v1/models HTTP/1.1\nhost: x\n\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\n folded: y\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost : x\r\n\r\n",
  "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}{}{}",
  "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: +5\r\n\r\n{}{}{}",
  "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
  "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nx: y\r\n\r\n",
  "POST /auth/login HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n{}",
  "OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n",
  "CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n".repeat(50),
  `GET /v1/models HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(2_200)}\r\n`,
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  `GET /v1/models HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(17_000)}\r\n\r\n`,
];
/** What begins HTTP/2, and TLS. */
const PREFACES = [
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1"),
  Buffer.from("16030100c8010000c40303", "hex"),
];

const MAKERS: Readonly<Record<string, (random: Random, caller: Caller) => Input>> = {
  json(random, caller) {
    const [path, schema, models] = pick(random, BODIES);
    const document = schemaOf(schema);
    const body = sample(random, document, document);
    const named = isJson(body) && random.chance(0.9) ? { ...body, model: pick(random, models) } : body;
    const payload = Buffer.from(brokenText(random, JSON.stringify(mutated(random, named)) ?? ""));
    return request("json", post(path, caller.key, "application/json"), payload);
  },
  schemas(random, caller) {
    const model = pick(random, CHAT_MODELS);
    const strict = random.chance(0.5);
    const tools = Array.from({ length: random.between(1, 3) }, (_, index) => ({
      type: "function",
      function: { name: `tool_${index}`, parameters: hostileSchema(random), strict },
    }));
    const asked = random.chance(0.5)
      ? { tools }
      : { response_format: { type: "json_schema", json_schema: { name: "x", schema: hostileSchema(random), strict } } };
    const body = { model, messages: [{ role: "user", content: "hi" }], stream: random.chance(0.5), ...asked };
    const payload = Buffer.from(JSON.stringify(body));
    return request("schemas", post("/v1/chat/completions", caller.key, "application/json"), payload);
  },
  multipart(random, caller) {
    const parts: Part[] = [{ name: "model", value: "route/listen" }];
    if (random.chance(0.8)) parts.push({ name: "file", fileName: text(random, 8), value: noise(random, 3_000) });
    const names = ["file", "language", "prompt", "temperature", "stream", "a[]", "__proto__", "", text(random, 6)];
    for (let left = random.between(0, 6); left > 0; left--)
      parts.push({ name: pick(random, names).replaceAll(/[\r\n"]/g, ""), value: noise(random, 200) });
    const body = formOf(parts, pick(random, [undefined, undefined, undefined, "", `--${BOUNDARY}`, "--\r\n"]));
    const type = random.chance(0.9)
      ? FORM_TYPE
      : `multipart/form-data; boundary=${text(random, 90).replaceAll(/[^ -~]/g, "")}`;
    const file = random.chance(0.1) ? Buffer.concat([body, noise(random, 60_000)]) : body;
    return request("multipart", post("/v1/audio/transcriptions", caller.key, type), file);
  },
  headers(random, caller) {
    const [path, , models] = pick(random, BODIES);
    const model = pick(random, models);
    const body = Buffer.from(JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], input: "hi" }));
    const more = Array.from({ length: random.between(1, 6) }, () => {
      const value = random.chance(0.7) ? pick(random, HEADER_VALUES) : text(random, 200).replaceAll(/[^\t -~]/g, "");
      return [pick(random, HEADER_NAMES), value] as const;
    });
    const { headers, ...head } = post(path, caller.key, "application/json");
    // Which answer such headers deserve depends on them: none at all may be right.
    return { ...request("headers", { ...head, headers: [...headers, ...more] }, body), request: null, whole: false };
  },
  frames(random) {
    return { name: "frames", request: null, bytes: Buffer.from(pick(random, FRAMES), "latin1"), whole: false };
  },
  prefaces(random) {
    const bytes = Buffer.concat([pick(random, PREFACES), noise(random, 2_000)]);
    return { name: "prefaces", request: null, bytes, whole: false };
  },
  routes(random, caller) {
    const { method, path } = pick(random, ENDPOINTS);
    const part = () => encodeURIComponent(pick(random, ["x", "..", "\u0000", "a".repeat(300), "route/one", "🙂"]));
    const filled = path.replaceAll(/\{\w+\}/g, part);
    const query = random.chance(0.4) ? `?${pick(random, ["limit", "cursor", "code", "state", "x"])}=${part()}` : "";
    const credential = pick(random, [caller.key, caller.token, "rk_unknown", "a.b.c", ""]);
    const names = ["email", "code", "refresh_token", "name", "key_id", "redirect_uri", "__proto__"];
    const values = [...NASTY, "user@example.com", "000000"];
    const body = Object.fromEntries(
      Array.from({ length: random.between(0, 3) }, () => [pick(random, names), pick(random, values)]),
    );
    const head = { ...post(filled + query, credential, "application/json"), method };
    const payload = method === "POST" ? Buffer.from(brokenText(random, JSON.stringify(body))) : Buffer.alloc(0);
    return request("routes", head, payload);
  },
};
const NAMES = Object.keys(MAKERS);

/** The input of that number: nothing but the seed and the number make it. */
export function inputOf(seed: number, index: number, caller: Caller): Input {
  const random = Random.of(seed, index);
  const input = MAKERS[pick(random, NAMES)]!(random, caller);
  if (!random.chance(0.15)) return input;
  const bytes = brokenBytes(random, input.bytes);
  return { name: `${input.name}, broken`, request: null, bytes, whole: false };
}

/** A chat request of a user who says this. */
export function saying(content: string, { key }: Caller): Input {
  const body = { model: "route/one", messages: [{ role: "user", content }] };
  return request("saying", post("/v1/chat/completions", key, "application/json"), Buffer.from(JSON.stringify(body)));
}

function post(path: string, credential: string, type: string): Head {
  const headers = [
    ["host", "gateway"],
    ["connection", "close"],
    ["authorization", `Bearer ${credential}`],
    ["content-type", type],
  ] as const;
  return { method: "POST", path, headers };
}

function request(name: string, { method, path, headers }: Head, body: Buffer): Input {
  const lines = [...headers, ["content-length", String(body.length)]].map((pair) => pair.join(": "));
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
  return { name, request: { method, path }, bytes: Buffer.concat([Buffer.from(head), body]), whole: true };
}

/** The value with something nasty in one place of it, or as it is. */
function mutated(random: Random, value: unknown): unknown {
  if (random.chance(0.25)) return value;
  if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
    const at = random.between(0, value.length - 1);
    return value.map((item, index) => (index === at ? mutated(random, item) : item));
  }
  if (isJson(value) && Object.keys(value).length > 0 && random.chance(0.9)) {
    const name = pick(random, Object.keys(value));
    return { ...value, [name]: mutated(random, value[name]) };
  }
  return pick(random, NASTY);
}

/** JSON that is deep, wide, huge, doubled or cut, mostly as it was. */
function brokenText(random: Random, json: string): string {
  const length = random.between(1, 300_000);
  switch (random.weighted({ none: 20, deep: 1, wide: 1, objects: 1, huge: 1, doubled: 1, cut: 2, after: 1 })) {
    case "deep":
      return json.replace(/\{/, `{"x":${"[".repeat(length)}${"]".repeat(length)},`);
    case "wide":
      return json.replace(/\{/, `{"x":[${"0,".repeat(length)}0],`);
    case "objects":
      return json.replace(/\{/, `{"x":[${"{},".repeat(length)}0],`);
    case "huge":
      return json.replace(/\{/, `{"x":"${"漢".repeat(length)}",`);
    case "doubled":
      return json.replace(/\{/, '{"model":"route/none","model":"route/one","stream":true,"stream":false,');
    case "cut":
      return json.slice(0, random.between(0, json.length));
    case "after":
      return `${json}${json}`;
    case "none":
      return json;
  }
}

function brokenBytes(random: Random, bytes: Buffer): Buffer {
  const at = random.between(0, Math.min(bytes.length, 2_000));
  const rest = random.between(at, Math.min(bytes.length, at + 200));
  switch (random.weighted({ cut: 3, gone: 1, noise: 2, twice: 1 })) {
    case "cut":
      return bytes.subarray(0, at);
    case "gone":
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(rest)]);
    case "noise":
      return Buffer.concat([bytes.subarray(0, at), noise(random, 20), bytes.subarray(rest)]);
    case "twice":
      return Buffer.concat([bytes.subarray(0, rest), bytes.subarray(at)]);
  }
}

function noise(random: Random, most: number): Buffer {
  return Buffer.from(Array.from({ length: random.between(0, most) }, () => random.between(0, 255)));
}
