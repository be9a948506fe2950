import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import piiMask from "../../plugins/pii-mask.ts";
import { readChat } from "../../src/dialects/chat/client.ts";
import { readMessages } from "../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../src/dialects/responses/client/request.ts";
import type { Call, Exchange, Hooks, Json, StreamEvent } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";
import { testExchange } from "../support/exchange.ts";
import { testSnapshot } from "../support/snapshot.ts";
import { chunk } from "../support/source.ts";
import { pluginHost, setUp } from "./harness.ts";

/*
 * No number gets out, however people and programs write it: with any separator, in digits of any script, in each place of
 * each client format that a model reads. And the client reads it again as it was written, whole and streamed.
 */

const snapshot = testSnapshot();
const hooks: Hooks = await setUp(piiMask, {}, await pluginHost({ snapshot }));

const NUMBERS = [
  ["4111", "1111", "1111", "1111"],
  ["5555", "5555", "5555", "4444"],
  ["3782", "822463", "10005"],
  ["3056", "930902", "5904"],
  ["DE89", "3704", "0044", "0532", "0130", "00"],
  ["GB82", "WEST", "1234", "5698", "7654", "32"],
  ["+49", "30", "1234", "5678"],
  ["0049", "171", "234", "5678"],
] as const;

const SEPARATORS =
  "|\u0020|\u00a0|\u202f|\u2009|\u2007|\u3000|\t|-|\u2010|\u2011|\u2013|\u2014|\u2212|\uff0d|.|\uff0e|\u3002|\u00b7|\u2022|_|/|\u200b|\u00ad|\u2060|\u{e0020}|\u0020-\u0020|\u00a0\u2013\u00a0".split(
    "|",
  );

/** Where the digits of a script begin. */
const ZEROS = [0x30, 0xff10, 0x660, 0x966, 0x1d7ce, 0x1d7f6];

function inScript(text: string, zero: number): string {
  return text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}

/** Digits and letters alone, as any reader would put them together. */
function plain(text: string): string {
  const ascii = text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0)!;
    const zero = ZEROS.find((one) => code >= one && code < one + 10);
    return zero === undefined ? digit : String(code - zero);
  });
  return ascii.replaceAll(/[^A-Za-z\d]/g, "").toUpperCase();
}

/** Requests of each format that say a text wherever a model reads one, and a name wherever it reads a name. */
const FORMS: Readonly<Record<string, (text: string, name: string) => Call>> = {
  chat: (text, name) =>
    readChat({
      model: "route/free",
      messages: [
        { role: "system", content: [{ type: "text", text }] },
        { role: "user", name, content: text },
        {
          role: "assistant",
          content: null,
          tool_calls: [functionCall(name, { [text]: [text], url: text, name: text })],
        },
        { role: "tool", tool_call_id: "c", content: text },
        { role: "user", content: [{ type: "file", file: { filename: text, file_data: inlined(text) } }] },
      ],
      tools: [{ type: "function", function: { name, description: text, parameters: schema(text) } }],
      tool_choice: { type: "function", function: { name } },
      response_format: { type: "json_schema", json_schema: { name, description: text, schema: schema(text) } },
    }),
  messages: (text, name) =>
    readMessages({
      model: "route/free",
      max_tokens: 10,
      system: [{ type: "text", text }],
      messages: [
        {
          role: "user",
          content: [{ type: "document", source: { type: "text", media_type: "text/plain", data: text } }],
        },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c", name, input: { note: text, url: text, name: text } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text }] }] },
      ],
      tools: [{ name, description: text, input_schema: schema(text) }],
      tool_choice: { type: "tool", name },
    }),
  responses: (text, name) =>
    readResponses({
      model: "route/free",
      instructions: text,
      input: [
        { role: "user", content: [{ type: "input_text", text }] },
        { type: "function_call", call_id: "c", name, arguments: JSON.stringify({ note: text, url: text }) },
        { type: "function_call_output", call_id: "c", output: text },
      ],
      tools: [{ type: "function", name, description: text, parameters: schema(text), strict: false }],
      tool_choice: { type: "function", name },
      text: { format: { type: "json_schema", name, description: text, schema: schema(text) } },
    }),
};

function schema(text: string): Json {
  const about = { description: text, title: text, enum: [text], const: text, default: { url: text, id: text } };
  return { type: "object", properties: { status: { type: "string", ...about, examples: [{ status: text }] } } };
}

function functionCall(name: string, args: Json): Json {
  return { id: "c", type: "function", function: { name, arguments: JSON.stringify(args) } };
}

function inlined(text: string): string {
  return `data:text/plain;base64,${Buffer.from(text).toString("base64")}`;
}

/** All that an upstream may get, its inlined files read. */
function sent(call: Call): string {
  const said = JSON.stringify(["body", "canonical", "native", "request"].map((field) => Reflect.get(call, field)));
  return said.replaceAll(/data:text\/plain;base64,([\w+/=]*)/g, (_, base64: string) =>
    Buffer.from(base64, "base64").toString(),
  );
}

async function masked(call: Call): Promise<{ readonly call: Call; readonly exchange: Exchange }> {
  const exchange = { ...testExchange(snapshot), call };
  return { call: await hooks.transform!(call, exchange), exchange };
}

/** A number in groups, each parted from the next by the same separator or by another. */
const written = fc
  .tuple(
    fc.constantFrom(...NUMBERS),
    fc.oneof(
      fc.constantFrom(...SEPARATORS).map((one) => Array.from({ length: 6 }, () => one)),
      fc.array(fc.constantFrom(...SEPARATORS), { minLength: 6, maxLength: 6 }),
    ),
    fc.constantFrom(...ZEROS),
  )
  .map(([groups, separators, zero]) => {
    const [first, ...others] = groups;
    const text = others.reduce<string>((before, group, at) => before + separators[at]! + group, first);
    return { groups, text: inScript(text, zero) };
  });

describe.each(Object.entries(FORMS))("a request of the %s format", (_, form) => {
  test("leaves no number to an upstream, with any separator and in any script", async () => {
    await fc.assert(
      fc.asyncProperty(written, fc.constantFrom("", "_", "-"), async ({ groups, text }, separator) => {
        const name = `ask_${["4111", "1111", "1111", "1111"].join(separator)}`;
        const { call } = await masked(form(`my number is ${text}, thanks`, name));
        const said = plain(sent(call));
        expect(said).not.toContain(groups.join("").replace("+", ""));
        expect(said).not.toContain("4111111111111111");
        expect(sent(call)).toContain("thanks");
      }),
      { numRuns: RUNS },
    );
  });

  test("keeps the names of tools names, the same one everywhere", async () => {
    const { call } = await masked(form("nothing", "ask_4111111111111111"));
    const names = [...sent(call).matchAll(/\\?"name\\?":\\?"([^"\\]*)/g)].map(([, name]) => name!);
    expect(new Set(names.filter((name) => name !== "nothing"))).toEqual(new Set(["ask_CARD_1"]));
  });
});

const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 });

describe("the client", () => {
  test("reads its number as it wrote it, and calls of its tool by its name, whole and streamed", async () => {
    const name = "ask_4111111111111111";
    await fc.assert(
      fc.asyncProperty(written, SIZES, async ({ text }, sizes) => {
        const asked = `my number is ${text}, thanks`;
        const { call, exchange } = await masked(FORMS["chat"]!(asked, name));
        const [, user, assistant] = call.body["messages"] as readonly [
          Json,
          Json,
          { readonly tool_calls: readonly Json[] },
        ];
        const content = String(user["content"]);
        const message = { role: "assistant", content, tool_calls: assistant.tool_calls };
        const whole = await hooks.response!({ choices: [{ message }] }, exchange);
        const tool_calls = [functionCall(name, { [asked]: [asked], url: asked, name: asked })];
        expect(whole).toEqual({ choices: [{ message: { role: "assistant", content: asked, tool_calls } }] });

        const change = hooks.stream!(exchange)!;
        const events: StreamEvent[] = [];
        let rest = content;
        for (const size of [...sizes, content.length]) {
          if (rest !== "") events.push(...change.event(chunk({ content: rest.slice(0, size) })));
          rest = rest.slice(size);
        }
        const [first] = assistant.tool_calls;
        events.push(...change.event(chunk({ tool_calls: [{ index: 0, ...first }] })));
        events.push(...change.event(chunk({}, { finish: "tool_calls" })), ...change.end!());
        const deltas = events.flatMap(({ data }) =>
          (data["choices"] as readonly { readonly delta: Json }[]).map(({ delta }) => delta),
        );
        expect(deltas.map(({ content: piece = "" }) => piece).join("")).toBe(asked);
        expect(JSON.stringify(deltas)).toContain(`"name":"${name}"`);
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });
});

const BASE64 = "aA0+/b=".repeat(30);
const LINES = `${"mQINBF+/aA0".repeat(6)}\n`.repeat(6);

async function maskedText(text: string): Promise<unknown> {
  const { call } = await masked(readChat({ model: "route/free", messages: [{ role: "user", content: text }] }));
  return (call.body["messages"] as readonly Json[])[0]?.["content"];
}

describe("keys", () => {
  test.each([
    ["PKCS #8, encrypted", `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${LINES}-----END ENCRYPTED PRIVATE KEY-----`],
    [
      "PEM with headers",
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,A0B1\n\n${LINES}-----END RSA PRIVATE KEY-----`,
    ],
    ["OpenSSH", `-----BEGIN OPENSSH PRIVATE KEY-----\n${LINES}-----END OPENSSH PRIVATE KEY-----`],
    [
      "PGP",
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.4 (a-b)\nComment: x - y <a@b.example>\n\n${LINES}=aB3d\n-----END PGP PRIVATE KEY BLOCK-----`,
    ],
    [
      "SSH2",
      `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "rsa-key-2024"\n${LINES}---- END SSH2 ENCRYPTED PRIVATE KEY ----`,
    ],
    ["EC, in one line of JSON", `-----BEGIN EC PRIVATE KEY-----\\n${BASE64}\\n-----END EC PRIVATE KEY-----\\n`],
  ])("a block: %s", async (_, block) => {
    expect(await maskedText(`it is\n${block}`)).toMatch(/^it is\n\[KEY_1\](?:\\n)?$/);
  });

  test("a block that breaks off", async () => {
    expect(await maskedText(`-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${LINES}`)).toMatch(/^\[KEY_1\]\s*$/);
  });

  test("a public key and a certificate stay", async () => {
    const text = `-----BEGIN PUBLIC KEY-----\n${LINES}-----END PUBLIC KEY-----\n-----BEGIN CERTIFICATE-----\n${LINES}-----END CERTIFICATE-----`;
    expect(await maskedText(text)).toBe(text);
  });

  const long = "aB3dE5gH1jK2lM4n".repeat(8);
  test.each([
    `sk-proj-${long}`,
    `sk-svcacct-${long}`,
    `sk-admin-${long}`,
    `sk-ant-api03-${long}`,
    `sk-ant-admin01-${long}`,
    `sk-or-v1-${long.slice(0, 64)}`,
    `xai-${long.slice(0, 80)}`,
    `csk-${long.slice(0, 48)}`,
    `nvapi-${long.slice(0, 64)}`,
    `r8_${long.slice(0, 37)}`,
    `fw_${long.slice(0, 24)}`,
    `pa-${long.slice(0, 43)}`,
    `jina_${long.slice(0, 60)}`,
    `lsv2_pt_${long.slice(0, 32)}_${long.slice(0, 10)}`,
    `ghs_${long.slice(0, 36)}`,
    `github_pat_${long.slice(0, 82)}`,
    `glpat-${long.slice(0, 20)}`,
    `glpat-${long.slice(0, 30)}.01.0z1abcdef`,
    `gldt-${long.slice(0, 20)}`,
    `glrt-${long.slice(0, 20)}`,
    `glcbt-64_${long.slice(0, 20)}`,
    `xapp-1-A012345-0123456789-${long.slice(0, 64)}`,
    `xoxe.xoxp-1-${long.slice(0, 100)}`,
    `dckr_pat_${long.slice(0, 27)}`,
    `pypi-AgEIcHlwaS5vcmc${long}`,
    `npm_${long.slice(0, 36)}`,
    `shpat_${"0123456789abcdef".repeat(2)}`,
    `whsec_${long.slice(0, 32)}`,
    `sk_live_${long.slice(0, 24)}`,
    `SG.${long.slice(0, 22)}.${long.slice(0, 43)}`,
    `dop_v1_${"0123456789abcdef".repeat(4)}`,
    `dapi${"0123456789abcdef".repeat(2)}`,
    `hvs.${long.slice(0, 95)}`,
    `ya29.${long.slice(0, 100)}`,
    `GOCSPX-${long.slice(0, 28)}`,
    `ATATT3xFfGF0${long}=${long.slice(0, 8)}`,
    `lin_api_${long.slice(0, 40)}`,
    `ntn_12345678901${long.slice(0, 35)}`,
    `glsa_${long.slice(0, 32)}_0123abcd`,
    `sbp_${"0123456789abcdef".repeat(2)}01234567`,
    `AGE-SECRET-KEY-1${"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2).slice(0, 58)}`,
    "ABIAIOSFODNN7EXAMPLE",
  ])("a token: %s", async (token) => {
    expect(await maskedText(`use ${token}, please`)).toBe("use [KEY_1], please");
  });

  test.each([
    "sk-learn, glad-hand, pa-system, fw_update, a pal-like_word_of_some_length",
    "hvs.short ya29.x SG.a.b",
    "AGE-SECRET-KEY-1",
  ])("no token: %s", async (text) => expect(await maskedText(text)).toBe(text));
});

describe("what is no number of anybody", () => {
  test.each([
    "2.718281828459045, 3.14159265358979, 2023.01.15 12.30.45",
    "row 2024 1115 1230 4501, sum 4111 1111 1111 1112, years 2021, 2022, 2023, 2024",
    "version 14.1-1111, port 4111/tcp, 4,111,111,111.11",
    "AT20 is the size of the room, DE89 was the plate",
  ])("%s", async (text) => expect(await maskedText(text)).toBe(text));
});
