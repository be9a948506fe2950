import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const KIT = JSON.stringify("route-gateway/testing");

/** A file of a new plugin is there already. */
export class FileExists extends Error {
  override readonly name = "FileExists";
}

/**
 * Writes a plugin that works, its schema and its test into a folder, all of them or none.
 * @returns their paths. @throws FileExists
 */
export async function writePlugin(folder: string, name: string): Promise<readonly string[]> {
  const texts = [
    [`${name}.ts`, pluginText(name)],
    [`${name}.schema.json`, schemaText(name)],
    [`${name}.test.ts`, testText(name)],
  ] as const;
  const files = texts.map(([file, text]) => [join(folder, file), text] as const);
  for (const [path] of files) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) throw new FileExists(`${path} exists: nothing was written`);
  }
  await mkdir(folder, { recursive: true });
  // Not over what came in between either.
  for (const [path, text] of files) await writeFile(path, text, { flag: "wx" });
  return files.map(([path]) => path);
}

/**
 * Makes the files of a folder ES modules, by a package.json of its own. Only where one above says, or implies, that they
 * are CommonJS: Node does not start their tests then, and TypeScript refuses them.
 * @returns its path; null: it is not needed
 */
export async function writeModuleType(folder: string): Promise<string | null> {
  const own = join(folder, "package.json");
  for (let at = resolve(folder); ; at = dirname(at)) {
    const text = await readFile(join(at, "package.json"), "utf8").catch(() => null);
    if (text !== null) {
      if (at === resolve(folder) || /"type"\s*:\s*"module"/.test(text)) return null;
      await writeFile(own, '{ "type": "module" }\n', { flag: "wx" });
      return own;
    }
    if (at === dirname(at)) return null;
  }
}

function pluginText(name: string): string {
  return `import { definePlugin } from "route-gateway/plugin";

/** What ${name}.schema.json lets pass. */
interface Options {
  readonly instruction: string;
}

/** Begins every chat with an instruction. */
export default definePlugin<Options>({
  name: "${name}",
  apiVersion: 1,
  stage: "transform",
  schema: new URL("./${name}.schema.json", import.meta.url),
  // Once per configuration: what can be prepared is prepared here, and state of one request is never kept here.
  setup({ instruction }) {
    return {
      transform(call) {
        const { messages } = call.body;
        if (call.kind !== "chat" || !Array.isArray(messages)) return call;
        // What a hook is given is frozen: a changed copy goes on.
        return { ...call, body: { ...call.body, messages: [{ role: "system", content: instruction }, ...messages] } };
      },
    };
  },
});
`;
}

function schemaText(name: string): string {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `Options of ${name}`,
    type: "object",
    additionalProperties: false,
    required: ["instruction"],
    properties: {
      instruction: {
        description: "What the model reads before every chat.",
        type: "string",
        minLength: 1,
        examples: ["Answer in one sentence."],
      },
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function testText(name: string): string {
  return `import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { conformance, openPlugin } from ${KIT};

const plugin = new URL("./${name}.ts", import.meta.url);
const options = { instruction: "Answer in one sentence." };

describe("${name}", () => {
  for (const { name, run } of conformance(plugin, { options })) test(name, run);

  test("a chat begins with the instruction", async (t) => {
    const room = await openPlugin(plugin, { options });
    t.after(() => room[Symbol.asyncDispose]());
    const messages = [{ role: "user", content: "Hello" }];
    const { status, sent } = await room.request({ model: "route/chat", body: { messages } });
    assert.equal(status, 200);
    const asked = JSON.parse(sent[0]?.body ?? "{}");
    assert.deepEqual(asked.messages, [{ role: "system", content: options.instruction }, ...messages]);
  });

  test("other kinds of requests pass as they are", async (t) => {
    const room = await openPlugin(plugin, { options });
    t.after(() => room[Symbol.asyncDispose]());
    const { status, sent } = await room.request({ model: "route/embedding", body: { input: "Hello" } });
    assert.equal(status, 200);
    assert.equal(JSON.parse(sent[0]?.body ?? "{}").messages, undefined);
  });
});
`;
}
