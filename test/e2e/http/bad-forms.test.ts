import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { unanswered } from "../support/books.ts";
import { BOUNDARY, file, FORM_TYPE, formOf, type Part, text, wav } from "../support/form.ts";
import { eventually, type Sent, shown } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { askKind, AUDIO, KIND_CHAINS, openKind } from "../support/kinds.ts";

const TEXT = "text/plain; charset=utf-8";
const LIMIT = 4 * 1024 * 1024;
const MODEL = text("model", "route/listen");
const FILE = file(AUDIO);

const SYSTEM = tmpdir();
/** For temporary files, of this suite alone. */
const FOLDER = mkdtempSync(join(SYSTEM, "gateway-forms-"));

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  process.env["TMPDIR"] = FOLDER;
  gateway = await TestGateway.start({ chains: KIND_CHAINS, config: { server: { body_limit: "4MiB" } } });
});
beforeEach(async () => {
  user = await gateway.user();
});
afterAll(async () => {
  await gateway.close();
  process.env["TMPDIR"] = SYSTEM;
  rmSync(FOLDER, { recursive: true });
});

/** What this process still holds open in the folder for temporary files, and what lies in it. */
function leftovers(): readonly string[] {
  const open = readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  const held = open.filter((name) => name.startsWith(FOLDER));
  return [...held, ...readdirSync(FOLDER)].filter((name) => !name.includes("gateway-e2e-"));
}

/** Sends a form as it is, and expects a refusal that changes nothing and leaves nothing behind. */
async function expectRefused(sent: Sent, expected: readonly unknown[]): Promise<void> {
  const [before, asked] = [await gateway.books(user), gateway.simulator.ledger().length];
  expect(shown(await askKind(gateway, user, "transcription", {}, sent))).toEqual(expected);
  expect(await gateway.books(user)).toEqual(before);
  expect(gateway.simulator.ledger()).toHaveLength(asked);
  await eventually(() => leftovers().length === 0);
}

const invalid = (what: string) => [400, "INVALID_REQUEST", TEXT, `Invalid request: ${what}`] as const;
const tooLarge = [413, "REQUEST_TOO_LARGE", TEXT, `Request body exceeds the limit of ${LIMIT} bytes`] as const;
const notForm = [415, "UNSUPPORTED_MEDIA_TYPE", TEXT, "Content-Type must be multipart/form-data"] as const;
const WHOLE = "/ must be a whole multipart/form-data body";
const FORMATS = '"json", "text", "srt", "vtt", "verbose_json"';
const LARGE = file(wav(200_000));

describe("forms that are not what the endpoint takes", () => {
  /** Of every kind of check one at least; what a form may be is in server/form. */
  const PARTS: Readonly<Record<string, readonly [readonly Part[], string]>> = {
    "no file": [[MODEL], "/file is required"],
    "two large files": [[MODEL, LARGE, FILE], "/file must be given once"],
    "a file that is text": [[MODEL, { name: "file", value: "" }], "/file must not be empty"],
    "an empty model": [[FILE, text("model", "")], "/model must not be empty"],
    "models as a list": [[FILE, MODEL, text("model[]", "a")], "/model is given both as model and as model[]"],
    "an unknown format": [[FILE, MODEL, text("response_format", "xml")], `/response_format must be one of ${FORMATS}`],
    "a temperature that is none": [
      [FILE, MODEL, text("temperature", "hot")],
      "/temperature must be a decimal number: the sampling temperature",
    ],
    "granularities that are none": [
      [FILE, MODEL, text("timestamp_granularities[]", "letter")],
      '/timestamp_granularities[]/0 must be one of "word", "segment"',
    ],
    "a wish for a stream": [[FILE, MODEL, text("stream", "true")], "/stream is not supported for transcriptions"],
  };

  test.each(Object.entries(PARTS))("%s", async (_, [parts, what]) => {
    expect.hasAssertions();
    await expectRefused({ body: formOf(parts) }, invalid(what));
    await expectRefused({ body: formOf(parts), chunked: true }, invalid(what));
  });

  const whole = formOf([MODEL, FILE]);
  test.each<readonly [string, Sent, readonly unknown[]]>([
    ["no body", { body: "" }, invalid(WHOLE)],
    ["an end in the middle of the file", { body: whole.subarray(0, -2_000) }, invalid(WHOLE)],
    [
      "no boundary",
      { headers: { "content-type": "multipart/form-data" } },
      invalid("/ must name its boundary in Content-Type"),
    ],
    ["JSON", { headers: { "content-type": "application/json" }, body: "{}" }, notForm],
    [
      "a form of the old kind",
      { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "model=x" },
      notForm,
    ],
    [
      "several parts of another kind",
      { headers: { "content-type": FORM_TYPE.replace("form-data", "mixed") } },
      notForm,
    ],
    ["no type", { headers: { "content-type": [] } }, notForm],
    [
      "a compressed form",
      { headers: { "content-encoding": "gzip" } },
      [415, "UNSUPPORTED_MEDIA_TYPE", TEXT, "Content-Encoding must be identity"],
    ],
  ])("%s", async (_, sent, expected) => {
    expect.hasAssertions();
    await expectRefused(sent, expected);
  });

  test("names of prototypes are plain fields", async () => {
    const parts = [MODEL, FILE, text("__proto__", "x"), text("constructor[]", "y"), text("toString", "z")];
    expect((await askKind(gateway, user, "transcription", {}, { body: formOf(parts) })).status).toBe(200);
    expect(gateway.simulator.ledger().at(-1)?.upload?.fields).toMatchObject({
      "constructor[]": ["y"],
      toString: ["z"],
    });
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("the bound of an upload", () => {
  const rest = formOf([MODEL, file("", { fileName: "a.mp3" })]).length;
  const formOfSize = (size: number) => formOf([MODEL, file(Buffer.alloc(size - rest, 7), { fileName: "a.mp3" })]);

  test("a form of just so many bytes is served, announced or in pieces", async () => {
    const body = formOfSize(LIMIT);
    expect(body).toHaveLength(LIMIT);
    for (const chunked of [false, true])
      expect((await askKind(gateway, user, "transcription", {}, { body, chunked })).status).toBe(200);
    await eventually(() => leftovers().length === 0);
  });

  test("one more is refused at once, and the gateway serves on", async () => {
    const body = formOfSize(LIMIT + 1);
    await expectRefused({ body }, tooLarge);
    await expectRefused({ body, chunked: true }, tooLarge);
    const huge = Buffer.alloc(3 * LIMIT, 7);
    await expectRefused({ body: huge }, tooLarge);
    await expectRefused({ body: formOf([MODEL, file(huge)]), chunked: true }, tooLarge);
    expect((await askKind(gateway, user, "transcription")).status).toBe(200);
  });
});

describe("a client that goes away", () => {
  test("during the upload: nobody's request, and nothing is left", async () => {
    const before = await gateway.books(user);
    const asked = gateway.simulator.ledger().length;
    const calls = Array.from({ length: 20 }, (_, index) => {
      const headers: Record<string, string> = index % 2 === 0 ? { "content-length": String(LIMIT) } : {};
      // Of a form whose large file is half there.
      const body = formOf([MODEL, LARGE], "").subarray(0, 2 * 1024 * 1024);
      return openKind(gateway, user, "transcription", {}, { body, headers });
    });
    await eventually(() => leftovers().length >= 10);
    for (const call of calls) call.leave();
    await eventually(() => leftovers().length === 0);
    await gateway.audit();
    expect(await gateway.books(user)).toEqual(before);
    expect(gateway.simulator.ledger()).toHaveLength(asked);
  });

  test.each(["?first_byte=1h", "?stall_after=1"])(
    "while the upstream works (%s): counted, its seconds charged, and nothing is left",
    async (sim) => {
      const someone = await gateway.user();
      const asked = gateway.simulator.ledger().length;
      const call = openKind(gateway, someone, "transcription", { file: LARGE, sim });
      await eventually(() => gateway.simulator.ledger().length > asked);
      call.leave();
      await eventually(() => gateway.simulator.ledger().at(-1)!.closedAt !== null);
      await gateway.audit();
      const owed = { usage: { prompt: 0, milliseconds: 200_000 }, estimated: true, charge: 200_000_000n };
      expect(await gateway.books(someone)).toMatchObject(unanswered({ outcome: "client_gone", units: 5, owed }));
      await eventually(() => leftovers().length === 0);
    },
  );

  test("at the very beginning of a form: nobody's request", async () => {
    const before = await gateway.books(user);
    const body = Buffer.from(`--${BOUNDARY}\r\n`);
    const call = openKind(gateway, user, "transcription", {}, { body, headers: { "content-length": "500" } });
    call.leave();
    await expect(call.whole()).rejects.toThrow("socket hang up");
    await gateway.audit();
    expect(await gateway.books(user)).toEqual(before);
  });
});

test("an upload that a failing chain sends four times is given back once, and leaves nothing", async () => {
  const chained = await TestGateway.start({
    chains: {
      "route/listen": { kind: "transcription", scripts: ["?status=500", "?reset_after=0", "?html", "?status=503"] },
    },
    config: { server: { body_limit: "4MiB" } },
  });
  const someone = await chained.user();
  const before = await chained.books(someone);
  expect((await askKind(chained, someone, "transcription", { file: LARGE })).status).toBe(502);
  expect(new Set(chained.simulator.ledger().map(({ upload }) => upload?.sha256)).size).toBe(1);
  expect(await chained.books(someone)).toEqual(before);
  await eventually(() => leftovers().length === 0);
  await chained.close();
});
