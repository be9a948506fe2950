import type { EffortLevel, Vendor } from "../../kit/index.ts";
import type { PartRules } from "../canonical/contents.ts";
import { OTHER_MODEL_OR_RATE } from "../canonical/own-model.ts";
import { type ParameterName, SAMPLING } from "../canonical/parameters.ts";
import type { ToolIdRules } from "../canonical/tools.ts";
import type { NameRules } from "../canonical/tool-names.ts";
import type { RoleRules } from "../canonical/turns.ts";

/** Whose rules they are: `azure` is a dialect of its own. */
export type RuledVendor = Vendor | "azure";

/**
 * Which endpoint takes a conversation: `chat` any; `responses` the Responses endpoint any, chat completions none;
 * `responses_for_tools` chat completions refuses tools unless reasoning is turned off (effort `none`), the Responses
 * endpoint takes any.
 */
export type Endpoint = "chat" | "responses" | "responses_for_tools";

/** What one model of a vendor takes, complete. Sets and lists are of what is taken, unless their name says otherwise. */
export interface Rules extends NameRules, ToolIdRules, RoleRules, PartRules {
  readonly vendor: RuledVendor;
  /** The field that limits output; `either`: both are taken. */
  readonly outputLimit: "max_tokens" | "max_completion_tokens" | "either";
  /** Most output tokens that may be asked for, where the model refuses more. */
  readonly maxOutput: number;
  /** Levels of `reasoning_effort`, from least to most; none: the field is not taken. */
  readonly efforts: readonly EffortLevel[];
  /** How reasoning is turned off: an effort of `none`, `thinking: {type: "disabled"}`, `enable_thinking: false`; or not. */
  readonly reasoningOff: "effort" | "thinking" | "enable_thinking" | "never";
  /** The field of assistant messages in which reasoning of earlier turns goes back. */
  readonly reasoningEcho: "never" | "reasoning_content" | "reasoning_details" | "reasoning";
  /** What stands for reasoning in assistant messages with tool calls that have none; null: they need none. */
  readonly reasoningDemanded: string | null;
  /** The model may not think in a tool loop whose last calls came without a thought of its own. */
  readonly thoughtDemanded: boolean;
  /** Fields of the body and of messages that nobody here knows travel. */
  readonly unknownFields: boolean;
  /** The top-level fields that are known, under the client's names. */
  readonly fields: ReadonlySet<string>;
  /** What a top-level field is called here, where that is another name. */
  readonly renamedFields: Readonly<Record<string, string>>;
  /** Top-level fields that are not sent whatever else is said: those of OTHER_MODEL_OR_RATE among them. */
  readonly refusedFields: ReadonlySet<string>;
  /** Fields of messages beyond role, content and what belongs to tool calls. */
  readonly messageFields: ReadonlySet<string>;
  /**
   * Types of tools beyond functions: OpenAI takes `custom` ones, of free text. Those that run at a provider may run another
   * model there, or are paid for apart.
   */
  readonly toolTypes: ReadonlySet<string>;
  /** Most stop sequences; 0: none are taken. */
  readonly stop: number;
  /** `strings`: `auto`, `none` and `required`, but not the name of a tool. */
  readonly toolChoice: "any" | "strings" | "auto";
  /** Characters of the longest `user`; 0: the field is not taken. */
  readonly user: number;
  readonly streamOptions: boolean;
  readonly developerRole: boolean;
  readonly strictTools: boolean;
  /**
   * Forms that OpenAI's API alone is known to take: null for what is not given, parts of a refusal and of a prediction, a
   * `json_schema` without its schema. Any other server gets what says the same.
   */
  readonly openaiForms: boolean;
  /** Those of `temperature`, `top_p`, the penalties, `logprobs`, `top_logprobs` and `logit_bias` that are taken. */
  readonly sampling: ReadonlySet<string>;
  /** The same when the effort is `none`. */
  readonly samplingWithoutReasoning: ReadonlySet<string>;
  /** Keywords of JSON Schema beyond the common ones that schemas of structured output may have; null: any. */
  readonly schemaKeywords: readonly string[] | null;
  /** Whether a schema of `response_format` is taken, and beside tools too; where it is not, a tool asks for it. */
  readonly structuredOutput: "beside_tools" | "alone" | "never";
  readonly endpoint: Endpoint;
  /**
   * Where `endpoint` is `responses_for_tools` and chat completions are asked all the same: the model does not reason unless
   * told to, so that a request with tools leaves the effort out; else it says `none`.
   */
  readonly reasonsByDefault: boolean;
  /** How `response_format: {type: "json_object"}` is asked: so, as a schema of any object, or not at all. */
  readonly jsonObject: "any" | "schema" | "never";
  /** Whether it is taken beside tools. */
  readonly jsonObjectBesideTools: boolean;
  /** The levels of `verbosity` are taken; else what is the default, `medium`, alone. */
  readonly verbosity: boolean;
  /** A choice among some of the tools (`allowed_tools`) has a form; else the others are not sent. */
  readonly allowedTools: boolean;
  /** Functions must say what they take. */
  readonly parametersDemanded: boolean;
  /** The highest `temperature`. */
  readonly maxTemperature: number;
  /** Most tools. */
  readonly maxTools: number;
  /** `stop` is a list, also of one. */
  readonly stopList: boolean;
  /**
   * Marks of a prefix to cache: `cache_control`, with or without how long it is kept (`ttl`), or OpenAI's own,
   * `prompt_cache_breakpoint`.
   */
  readonly cacheMarks: "none" | "marks" | "marks_with_ttl" | "breakpoints";
  /** Whose marks are sent: `own` of chat clients alone, as nothing is known of the server. */
  readonly clientMarks: "any" | "own";
  /** Assistant messages with calls may have both reasoning and text. */
  readonly reasoningBesideText: boolean;
}

/** Where a fact about a vendor stands: documentation, a file of an SDK, or a thread that quotes the refusal. */
type Source = string;

export interface Entry {
  readonly source: readonly Source[];
  /** The hosts of `base_url` by which the vendor is known; left out: only by `vendor`. */
  readonly hosts?: RegExp;
  /** false: it has no Responses endpoint; left out: it has one, or nobody knows. */
  readonly responsesApi?: false;
  /** What differs from GENERIC. */
  readonly rules?: Partial<Rules>;
  /** What differs from `rules`: the first that matches the model. */
  readonly models?: readonly ModelEntry[];
  /** What differs at some addresses of the vendor. */
  readonly places?: readonly ModelEntry[];
}

export interface ModelEntry {
  /** The model's name; of `places` the address. */
  readonly match: RegExp;
  readonly source: readonly Source[];
  readonly rules: Partial<Rules>;
}

export const NO_FIELDS: ReadonlySet<string> = new Set();

/** @param more names, blanks between them. */
export function withFields(fields: readonly string[], ...more: readonly string[]): ReadonlySet<string> {
  return new Set([...fields, ...more.flatMap((names) => names.split(" "))]);
}

export function alsoRefused(...fields: readonly ParameterName[]): ReadonlySet<string> {
  return OTHER_MODEL_OR_RATE.union(new Set(fields));
}

export function samplingWithout(...fields: readonly ParameterName[]): ReadonlySet<string> {
  return SAMPLING.difference(new Set(fields));
}
