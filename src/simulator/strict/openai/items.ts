import type { Json } from "../../../kit/index.ts";
import { isSigned } from "../../answer.ts";
import { asText, badParameter, SimError } from "../../fields.ts";
import { firstRefusal, type LocatedJson, objects, type Rule, unknownNames, wordSet } from "../rule.ts";
import { badName, tooLong } from "./limits.ts";
import { dataUrlProblem } from "./media.ts";
import { badValue, missing } from "./words.ts";

/* The items that a client brings to the Responses API. */

/** Fields of the items that a client can bring: openai resources/responses/responses.d.ts, ResponseInputItem. */
const ITEMS: Readonly<Record<string, ReadonlySet<string>>> = {
  message: wordSet("type role content status id phase"),
  function_call: wordSet("type id call_id name arguments status namespace caller async"),
  function_call_output: wordSet("type id call_id output status caller name namespace"),
  reasoning: wordSet("type id summary content encrypted_content"),
};
/** How ids begin that the provider gives to items of a type. */
const PREFIXES: Readonly<Record<string, string>> = { message: "msg", function_call: "fc", reasoning: "rs" };
const MAXIMUM_ID_CHARACTERS = 64;
const MAXIMUM_CALL_ID_CHARACTERS = 64;
const PARTS: Readonly<Record<string, readonly string[]>> = {
  assistant: ["output_text", "refusal"],
  user: ["input_text", "input_image", "input_file"],
};
const PART_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  output_text: wordSet("type text annotations logprobs"),
  refusal: wordSet("type refusal"),
  input_text: wordSet("type text prompt_cache_breakpoint"),
  input_image: wordSet("type image_url file_id detail prompt_cache_breakpoint"),
  input_file: wordSet("type file_data file_id file_url filename detail prompt_cache_breakpoint"),
};

/** Items that are passed over: fixtures openai-openapi openapi.json, InputItem. */
const OTHERS = wordSet(
  "additional_tools apply_patch_call apply_patch_call_output code_interpreter_call compaction compaction_trigger " +
    "computer_call computer_call_output custom_tool_call custom_tool_call_output file_search_call " +
    "image_generation_call item_reference local_shell_call local_shell_call_output mcp_approval_request " +
    "mcp_approval_response mcp_call mcp_list_tools program program_output shell_call shell_call_output " +
    "tool_search_call tool_search_output web_search_call",
);

export const ITEM_RULES: readonly Rule[] = [
  {
    source: "https://github.com/Soju06/codex-lb/pull/637, https://github.com/BerriAI/litellm/issues/13420",
    refuse: ({ body }) => firstRefusal(itemsOf(body), badItem),
  },
  {
    source: "https://github.com/james-6-23/codex2api/issues/414, https://github.com/continuedev/continue/pull/11785",
    refuse: ({ body }) => unpaired(itemsOf(body)),
  },
  {
    source: "https://github.com/continuedev/continue/pull/11785",
    refuse: ({ body }) => lonelyReasoning(itemsOf(body)),
  },
  {
    source: "https://github.com/can1357/oh-my-pi/pull/50",
    refuse: ({ body }) =>
      firstRefusal(itemsOf(body), ({ value }) =>
        body["store"] === false && value["type"] === "reasoning" && typeof value["encrypted_content"] !== "string"
          ? new SimError(
              404,
              `Item with id '${asText(value["id"])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
              { param: "input" },
            )
          : undefined,
      ),
  },
  {
    source: "https://github.com/openai/codex/issues/8145, https://github.com/Wei-Shaw/sub2api/issues/2863",
    refuse: ({ body }) => firstRefusal(itemsOf(body), ({ value }) => foreignReasoning(value)),
  },
  {
    source: "https://github.com/vercel/ai/issues/13307",
    refuse: ({ body }) => {
      const ids = itemsOf(body).map(({ value }) => value["id"]);
      const twice = ids.find((id, index) => typeof id === "string" && ids.indexOf(id) < index);
      if (twice === undefined) return undefined;
      const message = `Duplicate item found with id ${asText(twice)}. Remove duplicate items from your input and try again.`;
      return badParameter("input", message);
    },
  },
  {
    source:
      "https://github.com/anomalyco/opencode/issues/23983, https://platform.openai.com/docs/guides/images-vision#image-input-requirements",
    refuse: parts("input_image", (at, { image_url: url, file_id: id }) => {
      if (typeof url !== "string") return typeof id === "string" ? undefined : missing(`${at}.image_url`);
      const problem = /^https?:\/\//i.test(url) ? undefined : dataUrlProblem(url, "image");
      if (problem === undefined) return undefined;
      const message = `Invalid '${at}.image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got ${problem}.`;
      return badParameter(`${at}.image_url`, message, "invalid_value");
    }),
  },
  {
    source:
      "https://github.com/strands-agents/harness-sdk/pull/3576 (data URL), https://github.com/laravel/ai/pull/324 (filename)",
    refuse: parts("input_file", (at, { file_data: data, filename }) => {
      if (typeof data !== "string") return undefined;
      if (typeof filename !== "string") return missing(`${at}.filename`);
      return /^data:[^;,]+(?:;[^;,]+)*;base64,./s.test(data)
        ? undefined
        : badParameter(`${at}.file_data`, `Invalid '${at}.file_data'.`, "invalid_value");
    }),
  },
];

/** The first refusal of a part of one type, in a message or a tool's output. */
function parts(type: string, refuse: (at: string, part: Json) => SimError | undefined): Rule["refuse"] {
  return ({ body }) =>
    firstRefusal(itemsOf(body), ({ at, value }) =>
      firstRefusal(
        ["content", "output"].flatMap((name) =>
          objects(value[name]).map((part, index) => ({ at: `${at}.${name}[${index}]`, part })),
        ),
        (found) => (found.part["type"] === type ? refuse(found.at, found.part) : undefined),
      ),
    );
}

export function unknownField(value: Json, known: ReadonlySet<string>, at: string): SimError | undefined {
  const [name] = unknownNames(value, known);
  if (name === undefined) return undefined;
  return badParameter(`${at}${name}`, `Unknown parameter: '${at}${name}'.`, "unknown_parameter");
}

export function itemsOf({ input }: Json): readonly LocatedJson[] {
  return objects(input).map((value, index) => ({ at: `input[${index}]`, value }));
}

function typeOf({ type, role }: Json): string {
  return asText(type ?? (role === undefined ? "" : "message"));
}

function badItem({ at, value }: LocatedJson): SimError | undefined {
  const type = typeOf(value);
  const known = ITEMS[type];
  if (!known) {
    // An id alone refers to an item.
    if (type === "") return typeof value["id"] === "string" ? undefined : missing(`${at}.type`);
    if (OTHERS.has(type)) return undefined;
    return badValue(`${at}.type`, type, [...OTHERS, ...Object.keys(ITEMS)].toSorted());
  }
  const unknown = unknownField(value, known, `${at}.`);
  if (unknown) return unknown;
  const prefix = PREFIXES[type];
  const { id } = value;
  if (prefix !== undefined && typeof id === "string") {
    if (!id.startsWith(prefix)) {
      const message = `Invalid '${at}.id': '${id}'. Expected an ID that begins with '${prefix}'.`;
      return badParameter(`${at}.id`, message, "invalid_value");
    }
    const long = tooLong(`${at}.id`, id, MAXIMUM_ID_CHARACTERS);
    if (long) return long;
  }
  const long = tooLong(`${at}.call_id`, value["call_id"], MAXIMUM_CALL_ID_CHARACTERS);
  if (long) return long;
  if (type === "function_call") return badName(`${at}.name`, value["name"]);
  if (type === "reasoning" && !Array.isArray(value["summary"]))
    return badParameter(`${at}.summary`, `Missing required parameter: '${at}.summary'.`, "missing_required_parameter");
  return type === "message" ? badMessage(at, value) : undefined;
}

function badMessage(at: string, { role, content }: Json): SimError | undefined {
  const roles = ["assistant", "system", "developer", "user"];
  if (!roles.includes(asText(role))) {
    const message = `Invalid value: '${asText(role)}'. Supported values are: ${roles.map((one) => `'${one}'`).join(", ")}.`;
    return badParameter(`${at}.role`, message, "invalid_value");
  }
  const allowed = PARTS[role === "assistant" ? "assistant" : "user"] ?? [];
  for (const [index, part] of objects(content).entries()) {
    const type = asText(part["type"]);
    const place = `${at}.content[${index}]`;
    if (!allowed.includes(type)) {
      const values = allowed.map((one) => `'${one}'`);
      const last = values.pop();
      const message = `Invalid value: '${type}'. Supported values are: ${values.join(", ")}${values.length > 1 ? "," : ""} and ${last}.`;
      return badParameter(place, message, "invalid_value");
    }
    const unknown = unknownField(part, PART_FIELDS[type] ?? new Set(), `${place}.`);
    if (unknown) return unknown;
  }
  return undefined;
}

/** Calls and outputs belong together by `call_id`, wherever they stand. */
function unpaired(items: readonly LocatedJson[]): SimError | undefined {
  const idsOf = (type: string) =>
    items.filter(({ value }) => value["type"] === type).map(({ value }) => asText(value["call_id"]));
  const calls = idsOf("function_call");
  const outputs = idsOf("function_call_output");
  const stray = outputs.find((id) => !calls.includes(id));
  if (stray !== undefined)
    return badParameter("input", `No tool call found for function call output with call_id ${stray}.`);
  const open = calls.find((id) => !outputs.includes(id));
  return open === undefined ? undefined : badParameter("input", `No tool output found for function call ${open}.`);
}

/** Reasoning is followed by what it led to. */
function lonelyReasoning(items: readonly LocatedJson[]): SimError | undefined {
  for (const [index, { value }] of items.entries()) {
    if (value["type"] !== "reasoning") continue;
    const next = items[index + 1]?.value;
    const follows =
      next && (next["role"] === "assistant" || !["message", "function_call_output"].includes(typeOf(next)));
    if (follows) continue;
    const message = `Item '${asText(value["id"])}' of type 'reasoning' was provided without its required following item.`;
    return badParameter("input", message);
  }
  return undefined;
}

function foreignReasoning({ type, encrypted_content: sealed }: Json): SimError | undefined {
  if (type !== "reasoning" || typeof sealed !== "string" || isSigned("openai", sealed, "reasoning")) return undefined;
  const short = `${sealed.slice(0, 4)}...${sealed.slice(-4)}`;
  const message = `The encrypted content ${short} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
  return new SimError(400, message, { code: "invalid_encrypted_content" });
}
