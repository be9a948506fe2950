import type { IncomingHttpHeaders } from "node:http";
import { isJson, type Json } from "../../kit/index.ts";
import { asText, camelCased, type SimError } from "../fields.ts";
import type { ReceivedFile } from "../ledger.ts";
import type { Defect, Script } from "../script.ts";
import { BEDROCK } from "./claude/bedrock.ts";
import { ANTHROPIC } from "./claude/messages.ts";
import { CLOSED } from "./closed.ts";
import { COHERE } from "./cohere.ts";
import { GEMINI } from "./gemini/request.ts";
import { OPEN } from "./open.ts";
import { AZURE_CHAT, OPENAI_CHAT } from "./openai/chat.ts";
import { EMBEDDINGS, PICTURES, SPEECH, TRANSCRIPTION } from "./openai/endpoints.ts";
import { RESPONSES_FORM, RESPONSES_MODELS } from "./openai/responses.ts";
import { refusalOf, type Rule, type StrictVendor } from "./rule.ts";
import { THINKING } from "./thinking.ts";
import { VERTEX } from "./vertex.ts";

/** Whose rules hold at a chat endpoint. Nobody knows what a generic server refuses. */
const CHAT: Readonly<Record<StrictVendor, readonly Rule[]>> = {
  ...OPEN,
  ...CLOSED,
  ...THINKING,
  openai: OPENAI_CHAT,
  azure: AZURE_CHAT,
  anthropic: ANTHROPIC,
  vertex: VERTEX,
  bedrock: BEDROCK,
  gemini: GEMINI,
  cohere: COHERE,
  generic: [],
};

/** How their answers differ from OpenAI's, as recordings of them show: vercel/ai packages/{mistral,perplexity,deepseek,moonshotai,xai}. */
const HABITS: Partial<Record<StrictVendor, readonly Defect[]>> = {
  mistral: ["mistral-tools", "usage-with-choices"],
  perplexity: ["usage-every-chunk"],
  deepseek: ["usage-with-choices"],
  moonshot: ["usage-with-choices"],
  xai: ["xai-reasoning"],
};

/** The defects that a script asks for, else those of the vendor that it plays. */
export function habitsOf({ defect, vendor }: Script): readonly Defect[] | undefined {
  return defect ?? (vendor && HABITS[vendor]);
}

/** OpenAI's other endpoints, by the end of their path. */
const ENDPOINTS: readonly (readonly [RegExp, readonly Rule[]])[] = [
  [/\/audio\/speech$/, SPEECH],
  [/\/audio\/transcriptions$/, TRANSCRIPTION],
  [/\/embeddings$/, EMBEDDINGS],
  [/\/images\/generations$/, PICTURES],
];

const RESPONSES: readonly Rule[] = [...RESPONSES_FORM, ...RESPONSES_MODELS];

/** Where a request asks for an answer. */
const CHAT_PATH =
  /\/chat\/completions$|\/messages$|:(?:stream)?[gG]enerateContent$|\/converse(?:-stream)?$|:(?:r|streamR)awPredict$|\/v2\/chat$/;
/** What a path says of the model. */
const MODEL_PATH =
  /\/openai\/deployments\/(?<deployment>[^/]+)\/|\/models\/(?<gemini>[^/]+):[a-zA-Z]+$|\/model\/(?<bedrock>[^/]+)\/converse/;

/** Every rule of a vendor, for what shows that each has a source. */
export function rulesOf(vendor: StrictVendor): readonly Rule[] {
  if (vendor !== "openai") return CHAT[vendor];
  return [...CHAT.openai, ...RESPONSES, ...ENDPOINTS.flatMap(([, rules]) => rules)];
}

/** @throws SimError as the vendor that a script names refuses the request. */
export function checkVendor({ vendor }: Script, path: string, sent: unknown, headers: IncomingHttpHeaders = {}): void {
  const refusal = vendor && vendorRefusal(vendor, path, sent, betasOf(headers, sent));
  if (refusal) throw refusal;
}

/** What a vendor refuses of a request to an endpoint of its own; of others it refuses nothing. */
function vendorRefusal(
  vendor: StrictVendor,
  path: string,
  sent: unknown,
  betas: readonly string[],
): SimError | undefined {
  if (!isJson(sent)) return undefined;
  const written = withoutScript(sent);
  const body = vendor === "gemini" ? (camelCased(written) as Json) : written;
  const named = Object.values(MODEL_PATH.exec(path)?.groups ?? {}).find((name) => name !== undefined);
  const model = named === undefined ? modelOf(body) : decodeURIComponent(named);
  return refusalOf(rulesAt(vendor, path), { model, body, betas });
}

/** Those of a vendor for a path. */
function rulesAt(vendor: StrictVendor, path: string): readonly Rule[] {
  if (CHAT_PATH.test(path)) return CHAT[vendor];
  if (vendor !== "openai" && vendor !== "azure") return [];
  return path.endsWith("/responses") ? RESPONSES : (ENDPOINTS.find(([end]) => end.test(path))?.[1] ?? []);
}

/** Anthropic's betas, which Google and Amazon take in the body. */
function betasOf({ "anthropic-beta": header = [] }: IncomingHttpHeaders, sent: unknown): readonly string[] {
  const inBody: unknown = isJson(sent) ? sent["anthropic_beta"] : [];
  const named = Array.isArray(inBody) ? inBody.map(asText) : [];
  return [...String(header).split(","), ...named].map((name) => name.trim());
}

/** A form as an object: lists where names say so, a text elsewhere, and what there is to know of the file. */
export function formOf({ name, size, fields }: ReceivedFile): Json {
  const entries = Object.entries(fields).map(([field, values]) =>
    field.endsWith("[]") ? [field.slice(0, -2), values] : [field, values.at(-1)],
  );
  return { ...(Object.fromEntries(entries) as Json), file: { name, size } };
}

function withoutScript(sent: Json): Json {
  const { sim: _script, ...body } = sent;
  return body;
}

function modelOf({ model }: Json): string {
  return typeof model === "string" ? model : "";
}
