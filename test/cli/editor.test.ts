import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { bundleGateway } from "../../src/config/bundle.ts";

/** The modelines that we ship, write and document, in the language server that editors run. */
const ROOT = join(import.meta.dirname, "../..");
const CURSOR = "‸";

interface Place {
  readonly in: string;
  readonly at?: string;
  readonly put?: string;
  readonly hover?: readonly string[];
  readonly complete?: readonly string[];
  readonly only?: boolean;
  readonly wrong?: readonly string[];
}

const { texts, places } = parse(readFileSync(join(import.meta.dirname, "editor.places.yaml"), "utf8")) as {
  readonly texts: Readonly<Record<string, string>>;
  readonly places: readonly Place[];
};

/** One server over stdio, as an editor starts it: https://microsoft.github.io/language-server-protocol/specification */
class LanguageServer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  readonly #diagnostics = new Map<string, PromiseWithResolvers<readonly { readonly message: string }[]>>();
  #received: Buffer = Buffer.alloc(0);
  #asked = 0;

  constructor() {
    const main = createRequire(import.meta.url).resolve("yaml-language-server");
    this.#child = spawn(process.execPath, [join(dirname(main), "../../bin/yaml-language-server"), "--stdio"]);
    this.#child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  async start(): Promise<void> {
    const completion = { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } };
    const capabilities = { textDocument: { completion }, workspace: { configuration: true } };
    await this.ask("initialize", { processId: process.pid, rootUri: null, capabilities });
    this.#send({ method: "initialized", params: {} });
  }

  /** Opens a text as the file; the server has not to find it there. */
  open(uri: string, text: string): void {
    this.#diagnostics.set(uri, Promise.withResolvers());
    this.#send({
      method: "textDocument/didOpen",
      params: { textDocument: { uri, languageId: "yaml", version: 1, text } },
    });
  }

  ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#asked;
    this.#send({ id, method, params });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async messages(uri: string): Promise<readonly string[]> {
    return (await this.#diagnostics.get(uri)!.promise).map(({ message }) => message);
  }

  stop(): void {
    this.#child.kill();
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      const [, length] = /Content-Length: (\d+)/.exec(this.#received.toString("latin1", 0, Math.max(end, 0))) ?? [];
      const last = end + 4 + Number(length);
      if (length === undefined || this.#received.length < last) return;
      const message = JSON.parse(this.#received.toString("utf8", end + 4, last)) as Message;
      this.#received = this.#received.subarray(last);
      this.#handle(message);
    }
  }

  #handle({ id, method, params, result }: Message): void {
    if (method === undefined) this.#waiting.get(id!)?.(result);
    else if (method === "workspace/configuration") {
      // Without the store of schemas on the network: what we ship has to work offline.
      const yaml = { schemaStore: { enable: false }, validate: true, hover: true, completion: true };
      this.#send({ id, result: params!.items!.map(({ section }) => (section === "yaml" ? yaml : null)) });
    } else if (method === "textDocument/publishDiagnostics") {
      this.#diagnostics.get(params!.uri!)?.resolve(params!.diagnostics!);
    } else if (id !== undefined) this.#send({ id, result: null });
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: unknown;
  readonly params?: {
    readonly uri?: string;
    readonly diagnostics?: readonly { readonly message: string }[];
    readonly items?: readonly { readonly section: string }[];
  };
}

let server: LanguageServer;
/** Where a user's project would be: the package installed, and a schema that `gateway schema` has printed. */
let project: string;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "editor-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(ROOT, join(project, "node_modules/route-gateway"));
  const read = (name: string) => JSON.parse(readFileSync(join(ROOT, "schemas", name), "utf8")) as object;
  const printed = bundleGateway({ ...read("gateway.source.schema.json") }, { read, local: new Map() });
  writeFileSync(join(project, "printed.schema.json"), JSON.stringify(printed));
  server = new LanguageServer();
  await server.start();
  // All at once: the server waits a moment before it validates a text.
  for (const place of PLACES) server.open(uriOf(place), textOf(place).text);
});

afterAll(() => {
  server.stop();
  rmSync(project, { recursive: true, force: true });
});

const PLACES = places.map((place, index) => ({
  ...place,
  index,
  title: `${place.in}: ${place.put ?? place.at ?? "the whole file"}`.replaceAll("\n", "⏎"),
}));

/** Modelines are relative to the file; a text of the table is one in the root, or in the project of a user. */
function uriOf({ in: name, index }: Place & { readonly index: number }): string {
  const isInProject = ["installed", "printed"].includes(name);
  const folder = isInProject ? project : join(ROOT, texts[name] === undefined ? dirname(name) : "");
  return pathToFileURL(join(folder, `place-${index}.yaml`)).href;
}

/** The text of a place, and where its cursor is. */
function textOf({ in: name, at = "", put = at }: Place) {
  // Files for containers have no modeline: the schema is not beside them.
  const head = name.startsWith("deploy/") ? "# yaml-language-server: $schema=../../schemas/gateway.schema.json\n" : "";
  const text = head + (texts[name] ?? readFileSync(join(ROOT, name), "utf8"));
  const found = at.replace(CURSOR, "");
  const start = text.indexOf(found);
  if (start < 0) throw new Error(`${name} has no '${found}'`);
  const lines = (text.slice(0, start) + put.split(CURSOR, 1)[0]).split("\n");
  return {
    text: text.slice(0, start) + put.replace(CURSOR, "") + text.slice(start + found.length),
    position: { line: lines.length - 1, character: lines.at(-1)!.length },
  };
}

test.for(PLACES)("$title", async (place) => {
  expect(await faultsOf(place)).toEqual([]);
});

/** What the server does not say that the table has, and what it says beyond it. */
async function faultsOf({ hover, complete, only = false, wrong, ...place }: (typeof PLACES)[number]) {
  const uri = uriOf(place);
  const asked = { textDocument: { uri }, position: textOf(place).position };
  const faults: string[] = [];
  if (wrong) {
    const told = await server.messages(uri);
    if (told.join("\n") !== wrong.join("\n")) faults.push(`says ${JSON.stringify(told)}`);
  }
  if (hover) {
    const shown = (await server.ask("textDocument/hover", asked)) as Hover | null;
    const text = shown?.contents.value ?? "";
    faults.push(...hover.filter((part) => !text.includes(part)).map((part) => `no '${part}' in: ${text}`));
  }
  if (complete) {
    const { items } = (await server.ask("textDocument/completion", asked)) as Completions;
    const labels = items.map(({ label }) => label);
    faults.push(
      ...complete.filter((word) => !labels.includes(word)).map((word) => `no '${word}' among ${labels.join()}`),
    );
    if (only) faults.push(...labels.filter((label) => !complete.includes(label)).map((label) => `also '${label}'`));
  }
  return faults;
}

interface Hover {
  readonly contents: { readonly value: string };
}

interface Completions {
  readonly items: readonly { readonly label: string }[];
}

test("the package has both schemas where the modelines look for them", () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly files: string[] };
  expect(files).toEqual(expect.arrayContaining(["schemas/gateway.schema.json", "schemas/config-test.schema.json"]));
});
