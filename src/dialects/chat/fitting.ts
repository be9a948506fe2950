import { isJson, type Json } from "../../kit/index.ts";
import { requestedSchema } from "../canonical/json-tool.ts";
import { changed, Edits, objects, stringOf } from "../canonical/json.ts";
import { OF_THE_REQUEST, SAMPLING } from "../canonical/parameters.ts";
import { asks, escaped, type Report } from "../canonical/report.ts";
import { namedChoice, ToolNames } from "../canonical/tool-names.ts";
import { mostUseful, sha256 } from "../canonical/tools.ts";
import { effortOf, withFittedSchema } from "../vendors/rules.ts";
import type { Rules } from "../vendors/types.ts";
import { fittedMessages } from "./history.ts";

export interface Fitted {
  readonly body: Json;
  /** What tools are called in the body. */
  readonly names: ToolNames;
}

export interface FittingOptions {
  readonly rules: Rules;
  /** The body was made of another format's: it has no fields for this target that nobody here knows. */
  readonly translated: boolean;
  readonly report: Report;
  /** Pointers to the client's messages by place; null: their places are the same. */
  readonly places: readonly string[] | null;
}

/** Refused where there are no tools. */
export const OF_TOOLS: ReadonlySet<string> = new Set(["tool_choice", "parallel_tool_calls"]);
/** What a function takes that takes nothing. */
const NO_PARAMETERS: Json = { type: "object", properties: {} };
/** Defaults of every model. */
const USUAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["temperature", 1],
  ["top_p", 1],
  ["verbosity", "medium"],
]);

/**
 * What of a body the target takes, by the table of vendors: fields under other names, nearest values, the rest left out
 * and reported; the very same body where the target takes all of it.
 */
export function fitted(body: Json, options: FittingOptions): Fitted {
  const fitting = new Fitting(body, options);
  return { body: fitting.fit(), names: fitting.names };
}

class Fitting {
  readonly names: ToolNames;
  readonly #report: Report;
  readonly #body: Json;
  readonly #rules: Rules;
  readonly #translated: boolean;
  readonly #places: FittingOptions["places"];
  readonly #edits: Edits;

  constructor(body: Json, { rules, translated, report, places }: FittingOptions) {
    this.#places = places;
    this.#report = report;
    this.#body = body;
    this.#rules = rules;
    this.#translated = translated;
    this.#edits = new Edits(body);
    this.names = new ToolNames(rules);
  }

  fit(): Json {
    const edits = this.#edits;
    this.#tools();
    this.#format();
    this.#limit();
    this.#effort();
    this.#stop();
    this.#user();
    this.#temperature();
    this.#prediction();
    for (const name in this.#body) this.#field(name);
    edits.set(
      "messages",
      fittedMessages(this.#body["messages"], {
        rules: this.#rules,
        names: this.names,
        translated: this.#translated,
        report: this.#report,
        places: this.#places,
      }),
    );
    return edits.object;
  }

  #field(name: string): void {
    const { fields, refusedFields, unknownFields, renamedFields, streamOptions } = this.#rules;
    if (!Object.hasOwn(this.#edits.object, name)) return;
    if (name === "stream_options" && !streamOptions) return this.#edits.remove(name);
    const value = this.#edits.object[name];
    if (value === null && !this.#rules.openaiForms) return this.#edits.remove(name);
    const known = fields.has(name) || OF_THE_REQUEST.has(name) || (unknownFields && !this.#translated);
    if (!known || refusedFields.has(name)) return this.#drop(name);
    if (this.#samples(name)) return this.#drop(name);
    if (name === "verbosity" && !this.#rules.verbosity) return this.#drop(name);
    const renamed = Object.hasOwn(renamedFields, name) ? renamedFields[name] : undefined;
    if (renamed === undefined) return;
    this.#edits.remove(name);
    if (!Object.hasOwn(this.#body, renamed)) this.#edits.set(renamed, value);
  }

  /** Whether it is a sampling field that the model does not take. */
  #samples(name: string): boolean {
    const { sampling, samplingWithoutReasoning } = this.#rules;
    const taken = this.#edits.object["reasoning_effort"] === "none" ? samplingWithoutReasoning : sampling;
    return SAMPLING.has(name) && !taken.has(name);
  }

  #drop(name: string): void {
    const value = this.#edits.object[name];
    this.#edits.remove(name);
    if (value !== USUAL.get(name) && asks(name, value)) this.#report.drop(`/${escaped(name)}`);
  }

  #limit(): void {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const asked = this.#body[name];
      if (typeof asked !== "number" || asked <= this.#rules.maxOutput) continue;
      this.#edits.set(name, this.#rules.maxOutput);
      this.#report.drop(`/${name}`);
    }
    const { max_tokens: old, max_completion_tokens: limit } = this.#edits.object;
    const limitField = this.#rules.outputLimit;
    const name = limitField === "either" ? (this.#translated ? "max_tokens" : null) : limitField;
    const other = name === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    if (name === null || !Object.hasOwn(this.#edits.object, other)) return;
    const value = limit ?? old;
    this.#edits.remove(other);
    if (value !== undefined && value !== null) this.#edits.set(name, value);
  }

  #effort(): void {
    const { reasoning_effort: effort, thinking } = this.#body;
    const rules = this.#rules;
    if (rules.endpoint === "responses_for_tools" && this.#callsTools()) return this.#noEffort();
    if (effort === undefined && thinking === undefined) return;
    // A chat client that writes `thinking` for a target that may know it means it as it is.
    const own = !this.#translated && (rules.unknownFields || rules.fields.has("thinking"));
    const { fields, dropped } = effortOf(own ? { reasoning_effort: effort } : this.#body, rules);
    if (!Object.hasOwn(fields, "reasoning_effort")) this.#edits.remove("reasoning_effort");
    if (!own && !Object.hasOwn(fields, "thinking")) this.#edits.remove("thinking");
    for (const [name, value] of Object.entries(fields)) {
      if (!own || name !== "thinking" || thinking === undefined) this.#edits.set(name, value);
    }
    for (const pointer of dropped) this.#report.drop(pointer);
  }

  /** Whether there are tools that the client runs: no others are sent. */
  #callsTools(): boolean {
    return objects(this.#edits.object["tools"]).some((tool) => [tool["function"], tool["custom"]].some(isJson));
  }

  /** Chat completions refuse tools while these models reason: https://github.com/openai/openai-openapi/issues/541 */
  #noEffort(): void {
    const { efforts, reasonsByDefault } = this.#rules;
    const { fields, dropped } = effortOf(this.#body, this.#rules);
    const { reasoning_effort: effort } = fields;
    if (reasonsByDefault && !efforts.includes("none")) throw this.#report.unsupported("/tools");
    if (effort !== undefined && effort !== "none")
      this.#report.drop(this.#body["reasoning_effort"] === undefined ? "/thinking" : "/reasoning_effort");
    for (const pointer of dropped) this.#report.drop(pointer);
    this.#edits.remove("thinking");
    if (reasonsByDefault) this.#edits.set("reasoning_effort", "none");
    else this.#edits.remove("reasoning_effort");
  }

  #stop(): void {
    const { stop } = this.#body;
    const max = this.#rules.stop;
    const listed = typeof stop === "string" ? [stop] : Array.isArray(stop) ? (stop as readonly unknown[]) : [];
    if (typeof stop === "string" && this.#rules.stopList) this.#edits.set("stop", listed);
    if (listed.length <= max) return;
    if (max > 0) this.#edits.set("stop", listed.slice(0, max));
    else this.#edits.remove("stop");
    if (max === 0) this.#report.drop("/stop");
    else for (let index = max; index < listed.length; index++) this.#report.drop(`/stop/${index}`);
  }

  /** The nearest that is taken. */
  #temperature(): void {
    const { temperature } = this.#body;
    const { maxTemperature } = this.#rules;
    if (typeof temperature !== "number" || temperature <= maxTemperature || !this.#rules.sampling.has("temperature"))
      return;
    this.#edits.set("temperature", maxTemperature);
    this.#report.drop("/temperature");
  }

  /** A predicted text that comes in parts, as one. */
  #prediction(): void {
    const { prediction } = this.#body;
    if (this.#rules.openaiForms || !isJson(prediction) || !Array.isArray(prediction["content"])) return;
    const content = objects(prediction["content"]).map(({ text }) => stringOf(text));
    this.#edits.set("prediction", { ...prediction, content: content.join("") });
  }

  /** A digest in place of one that is too long: it stays the same for the same user. */
  #user(): void {
    const { user } = this.#body;
    const max = this.#rules.user;
    if (max === 0) this.#drop("user");
    else if (typeof user === "string" && user.length > max) this.#edits.set("user", sha256(user).slice(0, max));
  }

  #tools(): void {
    const { tools, tool_choice: choice } = this.#body;
    const kept = Array.isArray(tools) ? this.#keptTools(tools) : tools;
    this.#edits.set("tools", kept);
    if (Array.isArray(kept) && kept.length === 0 && kept !== tools) {
      this.#edits.remove("tools");
      for (const name of OF_TOOLS) this.#edits.remove(name);
      return;
    }
    if (choice !== undefined) this.#choice(choice, Array.isArray(kept) ? kept.length : 0);
  }

  /** Structured output with a schema that the target takes. */
  #format(): void {
    const { response_format: format } = this.#body;
    if (requestedSchema(format) === null || !isJson(format) || !isJson(format["json_schema"])) return;
    const edits = new Edits(format);
    const held = new Edits(this.#held(format["json_schema"], "schema", "/response_format/json_schema"));
    if (!this.#rules.openaiForms) held.removeNulls();
    edits.set("json_schema", held.object);
    this.#edits.set("response_format", edits.object);
  }

  #held(owner: Json, name: "schema" | "parameters", at: string): Json {
    const held = withFittedSchema(owner, name, this.#rules, this.#report.schemaWork);
    for (const pointer of held.dropped) this.#report.drop(at + pointer);
    return held.owner;
  }

  #keptTools(tools: readonly unknown[]): unknown {
    /** Places of the kept tools in the client's list. */
    const places: number[] = [];
    const taken = tools.map((tool) => !isJson(tool) || this.#takesTool(tool));
    const fitting = mostUseful(this.#body, taken, this.#rules.maxTools);
    for (const index of tools.keys()) {
      if (fitting.has(index)) places.push(index);
      else this.#report.drop(`/tools/${index}`);
    }
    const kept = places.length === tools.length ? tools : places.map((index) => tools[index]);
    return changed(kept, (tool, index) => this.#tool(tool, places[index]!));
  }

  /** Tools that run at a provider may run another model there, or are paid for apart: some have no type, but a name. */
  #takesTool({ type, function: described, name, ...others }: Json): boolean {
    const { toolTypes } = this.#rules;
    if (this.#translated || type === "function") return true;
    if (typeof type === "string") return toolTypes.has(type);
    if (isJson(described)) return true;
    return typeof name === "string" || Object.keys(others).some((field) => toolTypes.has(field));
  }

  #tool(tool: Json, index: number): Json {
    const { strictTools, parametersDemanded } = this.#rules;
    const edits = new Edits(tool);
    const { function: described, custom } = tool;
    if (isJson(described)) {
      const isLoose = !strictTools && described["strict"] === true;
      const inner = new Edits(isLoose ? described : this.#held(described, "parameters", `/tools/${index}/function`));
      if (typeof described["name"] === "string") inner.set("name", this.names.written(described["name"]));
      if (parametersDemanded && !isJson(described["parameters"])) inner.set("parameters", NO_PARAMETERS);
      if (!this.#rules.openaiForms) inner.removeNulls();
      if (!strictTools) {
        if (described["strict"] === true) this.#report.drop(`/tools/${index}/function/strict`);
        inner.remove("strict");
      }
      edits.set("function", inner.object);
    } else if (isJson(custom) && typeof custom["name"] === "string") {
      const inner = new Edits(custom);
      inner.set("name", this.names.written(custom["name"]));
      edits.set("custom", inner.object);
    }
    return edits.object;
  }

  /** @param tools how many there are. */
  #choice(choice: unknown, tools: number): void {
    const { toolChoice } = this.#rules;
    const named = isJson(choice);
    if (toolChoice === "any" || (!named && (toolChoice === "strings" || choice !== "required"))) {
      if (named)
        this.#edits.set(
          "tool_choice",
          namedChoice(choice, (name) => this.names.written(name)),
        );
    } else if (toolChoice === "auto") this.#drop("tool_choice");
    else {
      // With one tool it is the one that is named.
      this.#edits.set("tool_choice", "required");
      if (tools !== 1) this.#report.drop("/tool_choice");
    }
  }
}
