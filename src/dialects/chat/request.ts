import { type Call, isJson, type Json } from "../../kit/index.ts";
import { textWithModel } from "../canonical/body-text.ts";
import { withWrittenFiles } from "../canonical/contents.ts";
import { changed, list, objects, pick } from "../canonical/json.ts";
import { MARKS, marksOf } from "../canonical/marks.ts";
import type { Report } from "../canonical/report.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { orderedMessages } from "../canonical/turns.ts";
import type { Rules } from "../vendors/types.ts";
import type { BytesBody } from "../dialect.ts";
import { type Fitted, fitted, OF_TOOLS } from "./fitting.ts";
import { withMarks } from "./marks.ts";
import { writeMessages } from "./messages.ts";

interface ChatBody extends Fitted {
  /** What the client sent, where that says the same as the body; null where the body has to be written. */
  readonly text: BytesBody | null;
}

const OF_A_TOOL: ReadonlySet<string> = new Set(["type", "function", ...MARKS]);

/**
 * The body for an upstream of OpenAI's dialect: what the target takes of it, by the table of vendors. What a chat client
 * wrote travels as it came as far as that goes, what nobody here knows included; a body of another client dialect is
 * brought down to what OpenAI's API has.
 * @param writes whether a body is wanted that can be changed.
 */
export function chatBody(call: Call, model: string, rules: Rules, report: Report, writes: boolean): ChatBody {
  const translated = (call.dialect ?? "chat") !== "chat";
  const { body: own, places } = withPairs(withMarks(call.body, { rules, translated, report }), rules);
  const { body, names } = fitted(own, { rules, translated, report, places });
  const fittedBody = translated ? translatedBody(call, body, { rules, report, places }) : body;
  if (translated) report.dropNative();
  const written = withOrder(fittedBody, call.body, rules, report);
  const streamed = streamFields(call, written, rules);
  const text = !writes && written === call.body ? sameText(call, model, streamed) : null;
  return { body: text === null ? { ...written, model, ...streamed } : written, text, names };
}

/** Pointers to the client's messages by the places of those that are sent; null: they are in the same places. */
type Places = readonly string[] | null;

interface PairedBody {
  readonly body: Json;
  readonly places: Places;
}

/** With every call answered and every answer to a call; at a server of which nothing is known they travel as they came. */
function withPairs(body: Json, { vendor }: Rules): PairedBody {
  const messages = list(body["messages"]);
  const paired = vendor === "generic" ? [] : pairedMessages(messages, ["function", "custom"]);
  const same = paired.length === messages.length && paired.every(({ message }, index) => message === messages[index]);
  if (vendor === "generic" || same) return { body, places: null };
  return { body: { ...body, messages: paired.map(({ message }) => message) }, places: paired.map(({ at }) => at) };
}

/** The client's text with the model and the fields of a stream; null where it is not known to say the same. */
function sameText({ body, text }: Call, model: string, { stream_options: options }: Json): BytesBody | null {
  if (text === undefined) return null;
  const { stream_options: asked } = body;
  const isAsked = options === undefined || (isJson(asked) && asked["include_usage"] === true);
  if (!isAsked && asked !== undefined) return null;
  return textWithModel(text, body, model, isAsked ? "" : `,"stream_options":${JSON.stringify(options)}`);
}

/** The gateway meters streams by the upstream's own count. */
function streamFields({ stream }: Call, { stream_options: options }: Json, { streamOptions }: Rules): Json {
  if (!stream) return {};
  if (!streamOptions) return { stream: true };
  return { stream: true, stream_options: { ...(isJson(options) && options), include_usage: true } };
}

/**
 * With the messages in an order and a form that the target takes; the very same where it takes theirs.
 * @param own the canonical body: its messages are where the client's are known.
 */
function withOrder(body: Json, own: Json, rules: Rules, report: Report): Json {
  const messages = objects(body["messages"]);
  // Nothing can be gone on from in JSON: https://platform.kimi.ai/docs/guide/use-partial-mode-feature-of-kimi-api
  const formatted = rules.prefill === "partial" && isJson(body["response_format"]);
  const { messages: ordered, closed } = orderedMessages(messages, formatted ? { ...rules, prefill: "closed" } : rules);
  if (closed) report.drop(`/messages/${objects(own["messages"]).length - 1}`);
  const written = changed(ordered, (message) => withWrittenFiles(message, rules));
  return written === messages ? body : { ...body, messages: written };
}

interface Translating {
  readonly rules: Rules;
  readonly report: Report;
  readonly places: Places;
}

function translatedBody(call: Call, body: Json, { rules, report, places }: Translating): Json {
  const messages = writeMessages({ ...call, body }, report, { rules, places });
  const tools = writeTools(body["tools"], report);
  const carried = Object.entries(body).filter(
    ([name, value]) => value !== null && !(tools.length === 0 && OF_TOOLS.has(name)),
  );
  return { ...Object.fromEntries(carried), messages, tools: tools.length > 0 ? tools : undefined };
}

/** The functions of a canonical body; tools that run at a provider of another dialect have no form here. */
function writeTools(value: unknown, report: Report): readonly Json[] {
  const tools: Json[] = [];
  for (const [index, tool] of (Array.isArray(value) ? (value as readonly unknown[]) : []).entries()) {
    const at = `/tools/${index}`;
    if (!isJson(tool) || !isJson(tool["function"])) {
      report.drop(at);
      continue;
    }
    report.dropUnknown(tool, OF_A_TOOL, at);
    const described = pick(tool["function"], ["name", "description", "parameters", "strict"]);
    tools.push({ type: "function", function: described, ...marksOf(tool) });
  }
  return tools;
}
