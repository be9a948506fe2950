import { isJson, type Json } from "../../../kit/index.ts";
import { objects, parseJson, pick, stringOf } from "../../canonical/json.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";

/*
 * Tools of the API's own that run at the client: the shells and the patches of coding agents. Other providers get each as a
 * function of its name, its calls and outputs as those of a function, and what a model calls comes back as the API's item
 * (SDK openai responses.d.ts Tool.LocalShell, FunctionShellTool, ApplyPatchTool and ResponseInputItem).
 */

export type OwnTool = "local_shell" | "shell" | "apply_patch";

interface Form {
  /** What ids of its calls begin with. */
  readonly prefix: string;
  readonly description: string;
  readonly parameters: Json;
  /** The arguments that an item of a call stands for; null for an item that says nothing to run. */
  readonly read: (call: Json) => Json | null;
  /** The fields of an item of a call, as far as a model's arguments have them. */
  readonly write: (args: Json) => Json;
  /** What an item of an output says; null for one in another form. */
  readonly output: (output: Json) => string | null;
}

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;
const NUMBER = { type: "integer" } as const;

const FORMS: Readonly<Record<OwnTool, Form>> = {
  local_shell: {
    prefix: "lsh",
    description: "Runs a command on the user's machine and returns its output.",
    parameters: {
      type: "object",
      properties: {
        command: { ...TEXTS, description: "The program and its arguments, each a text of its own." },
        env: { type: "object", additionalProperties: TEXT, description: "Environment variables to set." },
        timeout_ms: { ...NUMBER, description: "Milliseconds after which it is ended." },
        user: { ...TEXT, description: "The user to run it as." },
        working_directory: { ...TEXT, description: "The folder to run it in." },
      },
      required: ["command"],
    },
    read({ action }) {
      if (!isJson(action) || !Array.isArray(action["command"])) return null;
      return pick(action, ["command", "env", "timeout_ms", "user", "working_directory"]);
    },
    write(args) {
      const { command, env } = args;
      const set = Object.entries(isJson(env) ? env : {}).filter(([, value]) => typeof value === "string");
      return {
        action: {
          type: "exec",
          // A line is one for a shell.
          command: typeof command === "string" ? ["bash", "-lc", command] : texts(command),
          env: Object.fromEntries(set),
          ...(typeof args["timeout_ms"] === "number" && pick(args, ["timeout_ms"])),
          ...(typeof args["user"] === "string" && pick(args, ["user"])),
          ...(typeof args["working_directory"] === "string" && pick(args, ["working_directory"])),
        },
      };
    },
    output: ({ output }) => (typeof output === "string" ? output : null),
  },

  shell: {
    prefix: "sh",
    description: "Runs commands in a shell on the user's machine and returns the output of each.",
    parameters: {
      type: "object",
      properties: {
        commands: { ...TEXTS, description: "Command lines, each run by itself." },
        timeout_ms: { ...NUMBER, description: "Milliseconds after which they are ended." },
        max_output_length: { ...NUMBER, description: "Characters of output to return at most." },
      },
      required: ["commands"],
    },
    read({ action, environment }) {
      if (isJson(environment) && environment["type"] !== "local") return null;
      if (!isJson(action) || !Array.isArray(action["commands"])) return null;
      return pick(action, ["commands", "timeout_ms", "max_output_length"]);
    },
    write: ({ commands, timeout_ms: timeout, max_output_length: most }) => ({
      action: {
        commands: typeof commands === "string" ? [commands] : texts(commands),
        timeout_ms: typeof timeout === "number" ? timeout : null,
        max_output_length: typeof most === "number" ? most : null,
      },
      environment: { type: "local" },
    }),
    output: ({ output }) => (Array.isArray(output) ? JSON.stringify(output) : null),
  },

  apply_patch: {
    prefix: "apc",
    description: "Creates, updates or deletes one file of the user's.",
    parameters: {
      type: "object",
      properties: {
        type: { ...TEXT, enum: ["create_file", "update_file", "delete_file"] },
        path: { ...TEXT, description: "Path of the file, relative to the root of the workspace." },
        // https://developers.openai.com/api/docs/guides/tools-apply-patch
        diff: {
          ...TEXT,
          description:
            "Of a new file: every line, with + before it. Of an update: hunks that begin with a line @@, with lines of " +
            "context behind a blank, removed lines behind - and added ones behind +, without headers that name the file. " +
            "Left out for a file to delete.",
        },
      },
      required: ["type", "path"],
    },
    read: ({ operation }) =>
      isJson(operation) && typeof operation["path"] === "string" ? pick(operation, ["type", "path", "diff"]) : null,
    write({ type, path, diff }) {
      const known = type === "create_file" || type === "delete_file" ? type : "update_file";
      return {
        operation: { type: known, path: stringOf(path), ...(known !== "delete_file" && { diff: stringOf(diff) }) },
      };
    },
    output: ({ status, output }) => JSON.stringify({ status, ...(typeof output === "string" && { output }) }),
  },
};

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function isOwnTool(type: unknown): type is OwnTool {
  return typeof type === "string" && Object.hasOwn(FORMS, type);
}

/** A tool of the client's own as a function; null for any other, a shell that runs at the provider too. */
export function ownFunction({ type, environment }: Json): Json | null {
  if (!isOwnTool(type)) return null;
  const local = isJson(environment) && environment["type"] === "local" ? environment : null;
  if (type === "shell" && local === null) return null;
  const { description, parameters } = FORMS[type];
  const skills = objects(local?.["skills"]).map(
    ({ name, description: about, path }) => `- ${stringOf(name)} (${stringOf(path)}): ${stringOf(about)}`,
  );
  const told = skills.length === 0 ? [] : ["Folders with instructions for special tasks:", ...skills];
  return { name: type, description: [description, ...told].join("\n"), parameters };
}

export interface OwnCall {
  readonly id: string;
  readonly name: OwnTool;
  readonly arguments: string;
}

/** What an item calls of the client's own tools; null for any other item. */
export function ownCall(item: Json): OwnCall | null {
  const name = typeOf(item, "_call");
  // The first local shells named the call by the item's own id.
  const id = item["call_id"] ?? item["id"];
  if (name === null || typeof id !== "string") return null;
  const args = FORMS[name].read(item);
  return args === null ? null : { id, name, arguments: JSON.stringify(args) };
}

/** What an item says of such a call's end; null for any other item. */
export function ownOutput(item: Json): { readonly id: string; readonly text: string } | null {
  const name = typeOf(item, "_call_output");
  // https://developers.openai.com/api/docs/guides/tools-local-shell answers by `call_id`, the SDK's type by `id`.
  const id = item["call_id"] ?? item["id"];
  const text = name === null ? null : FORMS[name].output(item);
  return text === null || typeof id !== "string" ? null : { id, text };
}

function typeOf({ type }: Json, suffix: string): OwnTool | null {
  const name = stringOf(type);
  const bare = name.slice(0, -suffix.length);
  return name.endsWith(suffix) && isOwnTool(bare) ? bare : null;
}

export function ownPrefix(tool: OwnTool): string {
  return FORMS[tool].prefix;
}

/** A call of one of these tools. What it runs is known at its end. */
export class OwnItem implements Item {
  readonly type: string;
  readonly #at: ItemParts;
  readonly #tool: OwnTool;
  readonly #head: Json;
  #arguments = "";

  constructor(at: ItemParts, callId: string, tool: OwnTool) {
    this.#at = at;
    this.#tool = tool;
    this.type = `${tool}_call`;
    this.#head = { type: this.type, id: at.id, call_id: callId };
    const item = { ...this.#head, status: "in_progress", ...FORMS[tool].write({}) };
    at.emit("response.output_item.added", { item });
  }

  add(delta: string): void {
    this.#arguments += delta;
  }

  close(status: ItemStatus): Json {
    const args = parseJson(this.#arguments);
    const fields = FORMS[this.#tool].write(isJson(args) ? args : {});
    // A patch has no word for one that was cut.
    const ended = this.#tool === "apply_patch" && status === "incomplete" ? "in_progress" : status;
    const item = { ...this.#head, status: ended, ...fields };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }
}
