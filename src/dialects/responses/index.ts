import { isDeepStrictEqual } from "node:util";
import { type ApiChoice, type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { objects, pick } from "../canonical/json.ts";
import { OTHER_MODEL_OR_RATE } from "../canonical/own-model.ts";
import { copiedBy, hasSourceMap, readBy } from "../canonical/parameters.ts";
import { escaped, outputLimit, Report, without } from "../canonical/report.ts";
import { type JsonRequest, postJson } from "../canonical/requests.ts";
import { ToolNames } from "../canonical/tool-names.ts";
import { mostUseful, sha256 } from "../canonical/tools.ts";
import { withMarks } from "../chat/marks.ts";
import { effortOf, withFittedSchema } from "../vendors/rules.ts";
import type { Rules } from "../vendors/types.ts";
import { readAnswer, type ReadAs } from "./answer.ts";
import { writeInput } from "./input.ts";
import { formatOfReasoning, takesBreakpoints, type WriteAs, writeAs } from "./items.ts";
import { isResponsesCall, ofResponses, requestOf, summaryOf } from "./native.ts";
import { ResponsesStreamReader } from "./stream.ts";
import { customNames, renamed, sentTool, writeChoice, writeTools } from "./tools.ts";

export const RESPONSES_PATH = "/responses";

/**
 * Whether a call goes to the upstream's Responses endpoint: as configured, else where chat completions refuses it
 * or what a client of the format itself would lose there.
 */
export function usesResponses(api: ApiChoice | undefined, rules: Rules, call: Call): boolean {
  const { body } = call;
  if (api !== undefined && api !== "auto") return api === "responses";
  // Chat completions take no encrypted reasoning back: an agent's model would think anew at every turn.
  if (ofResponses(call) && rules.vendor === "openai" && rules.efforts.length > 0) return true;
  if (rules.endpoint !== "responses_for_tools") return rules.endpoint === "responses";
  const { tools } = body;
  return Array.isArray(tools) && tools.length > 0 && effortOf(body, rules).fields["reasoning_effort"] !== "none";
}

/** A call of the Responses endpoint, and what reads its answer. */
export function responsesRequest(call: Call, target: Target, apiKey: string, rules: Rules): JsonRequest {
  const { body, dropped, as } = responsesBody(call, target.model, rules);
  const accept = call.stream ? "text/event-stream" : "application/json";
  return {
    ...postJson(RESPONSES_PATH, apiKey, body, accept),
    dropped,
    form: { answer: (bytes) => readAnswer(bytes, as), decoder: () => new ResponsesStreamReader(as) },
  };
}

interface ResponsesBody {
  readonly body: Json;
  /** JSON pointers into the client's body. */
  readonly dropped: readonly string[];
  /** How its answer is read. */
  readonly as: ReadAs;
}

/** Called the same here as in chat completions. */
const SAME = copiedBy("responses");
/** Read into fields of other names or shapes. */
const READ = readBy("responses");
/** Of the fields that only a Responses client has: read below, not carried over. */
const MERGED: ReadonlySet<string> = new Set(["text", "reasoning", "include", "tool_choice", "store"]);
/**
 * What Codex says of itself, to its own service alone: "Unknown parameter: 'client_metadata'" (decolua/9router#1157,
 * SEMOSS/Semoss#2532).
 */
const UNTAKEN: ReadonlySet<string> = new Set(["client_metadata"]);
/** "integer below minimum value. Expected a value >= 16" (vectorize-io/hindsight#58, earendil-works/pi#6265). */
const MIN_OUTPUT_TOKENS = 16;
const ENCRYPTED = "reasoning.encrypted_content";
const LOGPROBS = "message.output_text.logprobs";

/** The body of `POST /responses`. Nothing is ever stored: every request brings its whole input. */
function responsesBody(call: Call, model: string, rules: Rules): ResponsesBody {
  return new BodyWriter(call, rules).write(model);
}

class BodyWriter {
  readonly #call: Call;
  readonly #rules: Rules;
  readonly #report: Report;
  /** Fields that only a Responses client has. */
  readonly #native: Json;
  readonly #names: ToolNames;
  readonly #as: WriteAs;
  /** null: not said. */
  readonly #effort: string | null;

  constructor(call: Call, rules: Rules) {
    this.#rules = rules;
    this.#names = new ToolNames(rules);
    this.#report = new Report(call);
    this.#call = this.#withMarks(call);
    this.#native = ofResponses(call) ? (call.native ?? {}) : {};
    this.#as = writeAs(rules, this.#names);
    const { fields, dropped } = effortOf(call.body, rules);
    for (const pointer of dropped) this.#report.drop(pointer);
    this.#effort = typeof fields["reasoning_effort"] === "string" ? fields["reasoning_effort"] : null;
  }

  /** Items of a client of this format have their own marks: they are looked at where items are. */
  #withMarks(call: Call): Call {
    if (!ofResponses(call)) {
      const cacheMarks = this.#rules.cacheMarks === "breakpoints" ? "breakpoints" : "none";
      const options = { rules: { ...this.#rules, cacheMarks }, translated: true, report: this.#report } as const;
      return { ...call, body: withMarks(call.body, options) };
    }
    if (takesBreakpoints(this.#rules) || call.body["prompt_cache_options"] === undefined) return call;
    this.#report.drop("/prompt_cache_options");
    return { ...call, body: without(call.body, ["prompt_cache_options"]) };
  }

  write(model: string): ResponsesBody {
    const { body, stream } = this.#call;
    const { input, instructions, records } = writeInput(this.#call, this.#report, this.#as);
    const written = {
      model,
      ...this.#carried(),
      ...(instructions !== undefined && { instructions }),
      input,
      ...pick(body, SAME),
      ...this.#toolFields(),
      ...this.#sampling(),
      ...this.#limit(),
      ...this.#text(),
      ...this.#reasoning(),
      ...this.#include(),
      ...this.#user(),
      store: false,
      ...(stream && { stream: true }),
    };
    if (!records && hasSourceMap(this.#call)) for (const at of this.#call.sourceMap.records) this.#report.dropOwn(at);
    return {
      body: written,
      dropped: this.#report.dropped,
      as: readAs(this.#call, this.#rules, this.#names),
    };
  }

  /** Fields that travel as they came: those of the format alone, and those that the operator lets through. */
  #carried(): Json {
    const { body } = this.#call;
    const let_through = (name: string): boolean =>
      OTHER_MODEL_OR_RATE.has(name) && !this.#rules.refusedFields.has(name);
    const known = new Set([...READ, ...Object.keys(body).filter(let_through)]);
    this.#report.dropFields(known);
    const accepted = Object.entries(body).filter(([name, value]) => let_through(name) && value !== null);
    if (!ofResponses(this.#call)) {
      this.#report.dropNative();
      return Object.fromEntries(accepted);
    }
    // What is said of storing is answered in the field itself.
    if (this.#native["store"] === true) this.#report.dropOwn("/store");
    const own = Object.entries(this.#native).filter(([name]) => !MERGED.has(name));
    const { refusedFields, fields } = this.#rules;
    const refused = own.filter(([name]) => refusedFields.has(name) || (UNTAKEN.has(name) && !fields.has(name)));
    for (const [name] of refused) this.#report.dropOwn(`/${name}`);
    const metadata = requestOf(this.#call)["metadata"];
    return {
      ...Object.fromEntries([...own.filter((field) => !refused.includes(field)), ...accepted]),
      ...(isJson(metadata) && { metadata }),
    };
  }

  #toolFields(): Json {
    const { body } = this.#call;
    const { parallel_tool_calls: parallel } = body;
    const own = this.#ownTools();
    const tools = own?.tools ?? this.#writtenTools();
    if (tools.length === 0) return {};
    const choice = own === null ? writeChoice(body["tool_choice"], this.#as.sentName) : own.choice;
    return {
      tools,
      ...(choice !== undefined && choice !== null && { tool_choice: choice }),
      ...this.#parallel(parallel),
    };
  }

  #writtenTools(): readonly Json[] {
    const { body } = this.#call;
    const listed = objects(body["tools"]);
    const fitting = mostUseful(
      body,
      listed.map(() => true),
      this.#rules.maxTools,
    );
    for (const index of listed.keys()) if (!fitting.has(index)) this.#report.drop(`/tools/${index}`);
    return writeTools(listed, { ...this.#as, report: this.#report, rules: this.#rules, fitting });
  }

  #parallel(parallel: unknown): Json {
    if (typeof parallel !== "boolean") return {};
    if (!this.#rules.refusedFields.has("parallel_tool_calls")) return { parallel_tool_calls: parallel };
    if (!parallel) this.#report.drop("/parallel_tool_calls");
    return {};
  }

  /** The client's own tools and choice, while they are those that were read; null for any others. */
  #ownTools(): { readonly tools: readonly Json[]; readonly choice: unknown } | null {
    const { body } = this.#call;
    if (!isResponsesCall(this.#call)) return null;
    const { canonical, request } = this.#call;
    for (const name of ["tools", "tool_choice"]) {
      if (body[name] !== canonical[name] && !isDeepStrictEqual(body[name], canonical[name])) return null;
    }
    const listed = objects(request["tools"]);
    const taken = listed.map((tool) => sentTool(tool, this.#rules) !== null);
    const fitting = mostUseful({ ...body, tools: listed }, taken, this.#rules.maxTools);
    const kept = listed.filter((_, index) => {
      if (!fitting.has(index)) this.#report.dropOwn(`/tools/${index}`);
      return fitting.has(index);
    });
    const choice = this.#choiceAmong(kept, listed.length === kept.length);
    const named = (tool: Json): Json => renamed(tool, this.#as.sentName);
    return { tools: kept.map(named), choice: isJson(choice) ? named(choice) : choice };
  }

  /** A choice of a tool that is not sent is none. */
  #choiceAmong(tools: readonly Json[], all: boolean): unknown {
    const { tool_choice: choice } = requestOf(this.#call);
    if (all || !isJson(choice)) return choice;
    const { type, tools: allowed } = choice;
    if (type === "allowed_tools") {
      const left = objects(allowed).filter((one) => tools.some((tool) => tool["type"] === one["type"]));
      return left.length > 0 ? { ...choice, tools: left } : undefined;
    }
    if (type === "function" || type === "custom" || tools.some((tool) => tool["type"] === type)) return choice;
    this.#report.dropOwn("/tool_choice");
    return undefined;
  }

  /** Sampling fields that are taken. */
  get #taken(): ReadonlySet<string> {
    return this.#effort === "none" ? this.#rules.samplingWithoutReasoning : this.#rules.sampling;
  }

  /** What a reasoning model refuses is left out, and said so where it would have changed something. */
  #sampling(): Json {
    const { temperature, top_p, logprobs, top_logprobs } = this.#call.body;
    const taken = this.#taken;
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries({ temperature, top_p })) {
      if (typeof value !== "number") continue;
      if (taken.has(name)) fields[name] = value;
      else if (value !== 1) this.#report.drop(`/${name}`);
    }
    if (typeof top_logprobs === "number" && top_logprobs > 0) {
      if (taken.has("logprobs")) fields["top_logprobs"] = top_logprobs;
      else this.#report.drop("/top_logprobs");
    }
    if (logprobs === true && !taken.has("logprobs")) this.#report.drop("/logprobs");
    return fields;
  }

  #limit(): Json {
    const limit = outputLimit(this.#call.body, this.#rules.maxOutput, this.#report);
    return limit === undefined ? {} : { max_output_tokens: Math.max(limit, MIN_OUTPUT_TOKENS) };
  }

  #text(): Json {
    const { response_format: format, verbosity } = this.#call.body;
    const { text: own } = this.#native;
    const known = this.#rules.verbosity || verbosity === "medium";
    if (!known && typeof verbosity === "string") this.#report.drop("/verbosity");
    const text = {
      ...(isJson(own) && own),
      ...(isJson(format) && { format: this.#format(format) }),
      ...(known && typeof verbosity === "string" && { verbosity }),
    };
    return Object.keys(text).length > 0 ? { text } : {};
  }

  #format({ type, json_schema: described }: Json): Json {
    if (!isJson(described)) return { type };
    const { owner, dropped } = withFittedSchema(described, "schema", this.#rules, this.#report.schemaWork);
    this.#report.dropWithin({ dropped }, "/response_format/json_schema");
    return { type, ...owner };
  }

  #reasoning(): Json {
    const own = isJson(this.#native["reasoning"]) ? this.#native["reasoning"] : {};
    if (this.#rules.efforts.length === 0) {
      for (const name in own) this.#report.dropOwn(`/reasoning/${escaped(name)}`);
      return {};
    }
    const summary = summaryOf(this.#call);
    const reasoning = {
      ...own,
      ...(this.#effort !== null && { effort: this.#effort }),
      ...(summary !== null && { summary }),
    };
    return Object.keys(reasoning).length > 0 ? { reasoning } : {};
  }

  /**
   * Without being stored, reasoning lives on only in what is sent back. Other models refuse to be asked for it ("Encrypted
   * content is not supported with this model": pydantic/pydantic-ai#2865; `@ai-sdk/openai` asks reasoning models alone).
   */
  #include(): Json {
    const { include: own } = this.#native;
    const reasons = this.#rules.efforts.length > 0;
    const asked = Array.isArray(own) ? own.filter((one) => one !== ENCRYPTED && one !== LOGPROBS) : [];
    const logprobs = this.#call.body["logprobs"] === true && this.#taken.has("logprobs");
    const include = [...(reasons ? [ENCRYPTED] : []), ...(logprobs ? [LOGPROBS] : []), ...asked];
    return include.length > 0 ? { include } : {};
  }

  #user(): Json {
    const { user } = this.#call.body;
    if (typeof user !== "string") return {};
    if (this.#rules.user === 0) {
      this.#report.drop("/user");
      return {};
    }
    return { user: user.length > this.#rules.user ? sha256(user).slice(0, this.#rules.user) : user };
  }
}

function readAs(call: Call, rules: Rules, names: ToolNames): ReadAs {
  return {
    native: ofResponses(call),
    custom: ofResponses(call) ? new Set() : customNames(call.body["tools"]),
    format: formatOfReasoning(rules),
    nameOf: (sent) => names.read(sent),
  };
}
