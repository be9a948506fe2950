import type { IncomingHttpHeaders } from "node:http";
import { isJson, type Json } from "../../kit/index.ts";
import { asText, camelCased, type SimError } from "../fields.ts";
import type { Defect, Script } from "../script.ts";
import { BEDROCK } from "./claude/bedrock.ts";
import { ANTHROPIC } from "./claude/messages.ts";
import { CLOSED } from "./closed.ts";
import { COHERE } from "./cohere.ts";
import { GEMINI } from "./gemini/request.ts";
import { OPEN } from "./open.ts";
import { AZURE_CHAT, OPENAI_CHAT } from "./openai/chat.ts";
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

const RESPONSES: readonly Rule[] = [...RESPONSES_FORM, ...RESPONSES_MODELS];

/** Where a request asks for an answer, and what the path says of the model. */
const CHAT_PATH =
  /(?:\/openai\/deployments\/(?<deployment>[^/]+))?\/chat\/completions$|\/messages$|\/models\/(?<gemini>[^/]+):(?:stream)?[gG]enerateContent$|\/model\/(?<bedrock>[^/]+)\/converse(?:-stream)?$|\/models\/(?<claude>[^/]+):(?:r|streamR)awPredict$|\/v2\/chat$/;

/** Every rule of a vendor, for what shows that each has a source. */
export function rulesOf(vendor: StrictVendor): readonly Rule[] {
  return vendor === "openai" ? [...CHAT.openai, ...RESPONSES] : CHAT[vendor];
}

/** @throws SimError as the vendor that a script names refuses the request. */
export function checkVendor({ vendor }: Script, path: string, sent: unknown, headers: IncomingHttpHeaders = {}): void {
  const refusal = vendor && vendorRefusal(vendor, path, sent, betasOf(headers, sent));
  if (refusal) throw refusal;
}

/** What a vendor refuses of a request to one of its chat endpoints; of others it refuses nothing. */
function vendorRefusal(
  vendor: StrictVendor,
  path: string,
  sent: unknown,
  betas: readonly string[],
): SimError | undefined {
  if (!isJson(sent)) return undefined;
  const written = withoutScript(sent);
  const body = vendor === "gemini" ? (camelCased(written) as Json) : written;
  const responses = path.endsWith("/responses");
  const found = CHAT_PATH.exec(path);
  if (!responses && !found) return undefined;
  const named = Object.values(found?.groups ?? {}).find((name) => name !== undefined);
  const model = named === undefined ? modelOf(body) : decodeURIComponent(named);
  const rules = !responses ? CHAT[vendor] : vendor === "openai" || vendor === "azure" ? RESPONSES : [];
  return refusalOf(rules, { model, body, betas });
}

/** Anthropic's betas, which Google and Amazon take in the body. */
function betasOf({ "anthropic-beta": header = [] }: IncomingHttpHeaders, sent: unknown): readonly string[] {
  const inBody: unknown = isJson(sent) ? sent["anthropic_beta"] : [];
  const named = Array.isArray(inBody) ? inBody.map(asText) : [];
  return [...String(header).split(","), ...named].map((name) => name.trim());
}

function withoutScript(sent: Json): Json {
  const { sim: _script, ...body } = sent;
  return body;
}

function modelOf({ model }: Json): string {
  return typeof model === "string" ? model : "";
}
