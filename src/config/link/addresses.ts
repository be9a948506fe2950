import { isLoopback } from "../../kit/index.ts";
import type { UpstreamConfig } from "#schema";
import { LOCAL_SERVERS, type LocalServer, type Provider, PROVIDERS } from "../addresses.ts";
import { type Finding, join } from "../diagnostics.ts";
import { isSecretHeader, NO_SECRETS } from "../secrets.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";

/** Paths of single operations, which every dialect adds itself. */
const OPERATION =
  /\/(?:(?:chat\/)?completions|messages(?:\/count_tokens)?|responses|embeddings|embed|rerank|models(?:\/.*)?|images\/generations|audio\/(?:speech|transcriptions)|text-to-speech(?:\/.*)?|speech-to-text|listen|speak|converse(?:-stream)?|invoke(?:-with-response-stream)?)$/;
/** `gemini-2.5-pro:generateContent`. */
const METHOD = /:(?:stream)?(?:generate|embed|predict|rawPredict|streamRawPredict)\w*$/i;
const DOUBLED_VERSION = /(\/v\d+(?:beta|alpha)?)\1(?:\/|$)/;
/** As documentation writes what is the reader's own. */
const PLACEHOLDER = /<[^>]*>|\{[^}]*\}|\bYOUR\b|YOUR[-_]|\b(?:RESOURCE|REGION|PROJECT|LOCATION|NAME|HOST)\b/;

type Wrong = Pick<Finding, "message" | "hint">;

/** An address at which no request can be answered: what is usually written in place of the right one. */
export function linkAddress(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  const { base_url: written = "", dialect, vendor } = upstream;
  const place = join(pointer, "base_url");
  if (dialect === undefined || !/^https?:/i.test(written) || /[?#@]/.test(written) || !URL.canParse(written)) return;
  const url = new URL(written);
  const path = url.pathname.replace(/\/+$/, "");
  const wrong =
    placeholder(written) ??
    wrongProvider(url, path, dialect) ??
    wrongServer(url, path, dialect, vendor) ??
    wrongPath(path);
  if (wrong !== null) context.report(place, { rule: "upstream-address", severity: "warning", ...wrong });
}

function placeholder(written: string): Wrong | null {
  if (!PLACEHOLDER.test(written)) return null;
  return { message: "still contains a placeholder", hint: "replace it by your own name" };
}

function wrongProvider(url: URL, path: string, dialect: UpstreamConfig["dialect"]): Wrong | null {
  const { hostname, protocol } = url;
  const at = PROVIDERS.find(({ hosts }) => hosts.test(hostname));
  if (at === undefined) return wrongHost(hostname, dialect);
  const right = at.addresses[dialect];
  if (right === undefined) {
    return { message: `${at.name} does not speak the dialect ${dialect} there`, hint: spoken(at) };
  }
  if (protocol !== "https:") return { message: `${at.name} is reachable by https only`, hint: `write ${right.url}` };
  const isRight = right.path?.test(path) ?? path === new URL(right.url).pathname.replace(/\/$/, "");
  if (isRight) return null;
  return { message: `is not where ${at.name} answers the dialect ${dialect}`, hint: `write ${right.url}` };
}

function wrongHost(hostname: string, dialect: UpstreamConfig["dialect"]): Wrong | null {
  for (const provider of PROVIDERS) {
    const { name, pages, others, addresses } = provider;
    const url = addresses[dialect]?.url;
    const hint = url === undefined ? spoken(provider) : `write ${url}`;
    if (others?.hosts.test(hostname)) return { message: `is another address of ${name}: ${others.why}`, hint };
    if (pages?.test(hostname)) return { message: `is a website of ${name}, not its API`, hint };
  }
  return null;
}

/** What a provider does speak, and where. */
function spoken({ addresses }: Provider): string {
  return Object.entries(addresses)
    .map(([dialect, { url }]) => `dialect: ${dialect} with ${url}`)
    .join(", or ");
}

function wrongServer(
  { hostname, port }: URL,
  path: string,
  dialect: UpstreamConfig["dialect"],
  vendor: string | undefined,
): Wrong | null {
  if (dialect !== "openai") return null;
  const isAt = (one: LocalServer): boolean =>
    vendor === undefined ? isLoopback(hostname) && one.port !== "" && one.port === port : one.vendor === vendor;
  const server = LOCAL_SERVERS.find(isAt);
  if (server === undefined || !(path === "" || server.own.test(path))) return null;
  const hint = "end base_url with the port and /v1";
  if (path === "") return { message: `${server.name} answers the dialect openai below /v1`, hint };
  return { message: `is ${server.name}'s own interface, not the one of the dialect openai`, hint };
}

function wrongPath(path: string): Wrong | null {
  if (OPERATION.test(path) || METHOD.test(path)) {
    return {
      message: "ends with the path of one operation, which the gateway adds itself",
      hint: "end base_url before it",
    };
  }
  return DOUBLED_VERSION.test(path) ? { message: "has its version twice", hint: "write it once" } : null;
}

/** Headers that frame the message or the connection: the client library sets them. */
const RESERVED = /^(connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/i;

/** Headers of an upstream that cannot be sent, replace its keys, or are not the client's to choose. */
export function linkHeaders(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  for (const header of Object.keys(upstream.headers ?? {})) {
    if (!RESERVED.test(header)) continue;
    const message = `the header '${header}' is set by the gateway itself`;
    context.report(join(pointer, "headers", header), { rule: "reserved-header", message, hint: "remove it" }, "key");
  }
  linkCredentials(context, upstream, pointer);
  linkBetas(context, upstream, pointer);
  linkReferences(context, upstream, pointer);
  for (const [index, header] of (upstream.forward_headers ?? []).entries()) {
    const why = header === undefined ? null : whyNotForwarded(header);
    if (why === null) continue;
    const finding = { rule: "forwarded-header", message: `'${header}' ${why}`, hint: "remove it" } as const;
    context.report(join(pointer, "forward_headers", index), finding);
  }
}

/** Headers by which each dialect sends a key. */
const CREDENTIALS: Readonly<Record<UpstreamConfig["dialect"], readonly string[]>> = {
  openai: ["authorization"],
  anthropic: ["x-api-key", "authorization"],
  gemini: ["x-goog-api-key", "authorization"],
  azure: ["api-key", "authorization"],
  bedrock: ["authorization"],
  cohere: ["authorization"],
  jina: ["authorization"],
  voyage: ["authorization"],
  elevenlabs: ["xi-api-key"],
  deepgram: ["authorization"],
};

/** Configured headers come last: one that carries credentials is sent in place of every key. */
function linkCredentials(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  const { dialect, headers = {}, api_keys: keys = [] } = upstream;
  if (dialect === undefined || keys.every((key) => key === undefined || NO_SECRETS.has(key))) return;
  for (const header of Object.keys(headers)) {
    if (!CREDENTIALS[dialect].includes(header.toLowerCase())) continue;
    const message = `the header '${header}' replaces every key in api_keys`;
    const hint = "remove the header, or move its key to api_keys";
    const finding = { rule: "credentials-header", severity: "warning", message, hint } as const;
    context.report(join(pointer, "headers", header), finding, "key");
  }
}

/** Nothing is said of the bucket or host. */
const ANYWHERE = /^(?:\*+|[a-z][a-z\d+.-]*:\/\/\*+(?:\/.*)?)$/i;

/** A list of references that lets clients name any bucket or host. */
function linkReferences(context: LinkContext, { accepts }: Incomplete<UpstreamConfig>, pointer: string): void {
  for (const [index, pattern] of (accepts?.references ?? []).entries()) {
    if (pattern === undefined || !ANYWHERE.test(pattern)) continue;
    const message = `'${pattern}' lets clients have the provider read from anywhere, private hosts and buckets included`;
    const finding = {
      rule: "wide-reference",
      severity: "warning",
      message,
      hint: "name the bucket or the host",
    } as const;
    context.report(join(pointer, "accepts", "references", index), finding);
  }
}

/** The header and the fields in which clients name betas. */
const BETAS = /^(?:anthropic[-_]beta|betas)$/;
/** Dialects of upstreams that may be sent betas; `openai` as a proxy that hands them on. */
const WITH_BETAS: ReadonlySet<string> = new Set(["anthropic", "bedrock", "openai"]);

/** Accepted betas that let nothing through. */
function linkBetas(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  const { accepts, dialect = "anthropic" } = upstream;
  for (const [index, field] of (accepts?.fields ?? []).entries()) {
    const why = whyNoBeta(field ?? "", dialect);
    if (why === null) continue;
    const finding = { rule: "accepted-beta", severity: "warning", ...why } as const;
    context.report(join(pointer, "accepts", "fields", index), finding);
  }
}

function whyNoBeta(field: string, dialect: string): Wrong | null {
  if (BETAS.test(field)) {
    return { message: `'${field}' allows no beta`, hint: "name each beta: anthropic-beta:NAME" };
  }
  if (!field.startsWith("anthropic-beta:") || WITH_BETAS.has(dialect)) return null;
  return { message: `'${field}' is never sent: the dialect ${dialect} has no betas`, hint: "remove it" };
}

/** Headers of the connection and of the body, beside RESERVED. */
const FRAMING = /^(?:host|accept|accept-(?:charset|encoding)|content-.*|http2-settings|range|date)$/i;
const OWN =
  /^(?:x-request-id|request-id|traceparent|tracestate|baggage|idempotency-key|x-server-timing|x-gateway-.*)$/i;
/**
 * Headers that choose the account, its project, another model or the rate:
 * https://platform.openai.com/docs/api-reference/authentication, @anthropic-ai/sdk resources/beta/messages/messages.d.ts
 * (`anthropic-user-profile-id`), https://openrouter.ai/docs/features/provider-routing (`x-anthropic-beta`),
 * https://cloud.google.com/vertex-ai/generative-ai/docs/provisioned-throughput/use-provisioned-throughput
 * (`x-vertex-ai-llm-request-type`), https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html
 * (`X-Amzn-Bedrock-Service-Tier`), https://portkey.ai/docs/api-reference/inference-api/headers
 */
const PAYING =
  /^(?:openai-(?:organization|project)|x-goog-user-project|(?:x-)?anthropic-beta|anthropic-(?:version|user-profile-id)|x-amzn?-.*|x-aws-.*|x-vertex-ai-.*|x-portkey-.*)$/i;

/** Why a client's header may not be sent on, or null. */
function whyNotForwarded(header: string): string | null {
  if (isSecretHeader(header)) return "carries credentials: a client's are never sent on";
  if (RESERVED.test(header) || FRAMING.test(header)) return "belongs to the connection or the body of one request";
  if (OWN.test(header)) return "is set by the gateway itself";
  return PAYING.test(header) ? "chooses the account, the version or the rate: that is not the client's to say" : null;
}
