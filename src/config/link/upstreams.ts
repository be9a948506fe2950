import { createPrivateKey } from "node:crypto";
import type { UpstreamConfig } from "#schema";
import { isLoopback, LOCAL_VENDORS, parseProxy } from "../../kit/index.ts";
import { type Finding, join } from "../diagnostics.ts";
import { isLocal, isPrivateHost } from "../local.ts";
import { isRecord } from "../schema.ts";
import { BREAKER, DEADLINE, milliseconds, overlay, PROBE_TIMEOUT, RETRIES, TIMEOUTS } from "../settings.ts";
import type { Incomplete } from "../validate.ts";
import { linkAddress, linkHeaders } from "./addresses.ts";
import type { LinkContext } from "./context.ts";
import { targetsOf } from "./features.ts";

/** Upstreams by themselves: addresses, keys, headers, settings that contradict each other. */
export function linkUpstreams(context: LinkContext): void {
  const { upstreams = {}, defaults } = context.config;
  linkSettings(context, defaults?.upstream, undefined, "/defaults/upstream");
  const used = usedUpstreams(context);
  const models = modelsByUpstream(context);
  for (const [name, upstream] of Object.entries(upstreams)) {
    const pointer = join("/upstreams", name);
    if (used !== null && !used.has(name)) {
      context.report(
        pointer,
        {
          rule: "unused-upstream",
          severity: "warning",
          message: "is not used in any chain",
          hint: "use it in a chain, or remove it",
        },
        "key",
      );
    }
    if (!upstream) continue;
    linkUrl(context, upstream, pointer);
    linkAddress(context, upstream, pointer);
    linkGoogle(context, name, upstream);
    linkVendor(context, upstream, pointer);
    linkApi(context, name, upstream);
    linkSettings(context, upstream, defaults?.upstream, pointer);
    linkConcurrency(context, name, upstream);
    linkBreakerScope(context, name, models.get(name)?.size ?? 0);
    linkHeaders(context, upstream, pointer);
    linkConnection(context, upstream, pointer);
  }
}

/** How connections are made: settings that could have no effect, or none that was meant. */
function linkConnection(
  context: LinkContext,
  { base_url: url, tls, proxy }: Incomplete<UpstreamConfig>,
  pointer: string,
): void {
  const place = join(pointer, "base_url");
  const isKnown = url !== undefined && !context.isUnset(place) && !context.isInvalid(place);
  if (tls !== undefined && isKnown && parseUrl(url)?.protocol !== "https:") {
    const message = "has no effect: base_url is not an https:// address";
    const hint = "write https:// in base_url, or remove tls";
    context.report(join(pointer, "tls"), { rule: "tls-unused", severity: "warning", message, hint }, "key");
  }
  if (proxy === undefined || proxy === "none") return;
  // A single word may be a host; these are meant for none.
  if (parseProxy(proxy) !== null && !/^(?:off|false|no|direct)$/i.test(proxy)) return;
  const message = /^socks/i.test(proxy) ? "is a SOCKS proxy, which the gateway cannot use" : "is no URL of a proxy";
  const hint = "write http://HOST:PORT, https://HOST:PORT, or none";
  context.report(join(pointer, "proxy"), { rule: "proxy-url", message, hint });
}

/** Null when a chain is wrong: the upstream may have been meant there. */
function usedUpstreams(context: LinkContext): ReadonlySet<string> | null {
  if (context.isInvalid("/models") || !context.hasModels) return null;
  const { models = {}, upstreams = {} } = context.config;
  const publishing = Object.entries(upstreams).flatMap(([name, upstream]) =>
    upstream !== undefined && "models" in upstream ? [name] : [],
  );
  const targets = Object.values(models).flatMap((model) => targetsOf(model?.chain, ""));
  return new Set([...publishing, ...targets.map(({ target }) => target.upstream ?? "")]);
}

/** The names that targets have at each upstream. */
function modelsByUpstream({ config }: LinkContext): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const chain of Object.values(config.models ?? {})) {
    for (const { target } of targetsOf(chain?.chain, "")) {
      const { upstream, model } = target;
      if (upstream === undefined || model === undefined) continue;
      found.set(upstream, (found.get(upstream) ?? new Set()).add(model));
    }
  }
  return found;
}

/** Whose models fail one by one, as each runs on servers of its own. */
export const AGGREGATORS: ReadonlySet<string> = new Set(["openrouter", "vllm", "bedrock", "azure"]);

function linkBreakerScope(context: LinkContext, name: string, modelCount: number): void {
  const { upstreams = {}, defaults } = context.config;
  const { dialect, breaker } = upstreams[name] ?? {};
  const scope = breaker?.scope ?? defaults?.upstream?.breaker?.scope;
  if (dialect === undefined || scope !== undefined || modelCount < 2) return;
  if (context.isInvalid(join("/upstreams", name, "breaker", "scope"))) return;
  const vendor = context.dialects[dialect].vendor(context.location(name)) ?? dialect;
  if (!AGGREGATORS.has(vendor)) return;
  const message = `serves ${modelCount} models behind one breaker: failures of one stop them all`;
  const hint = "add breaker: { scope: target }, or scope: upstream to keep it so";
  context.report(join("/upstreams", name), { rule: "breaker-scope", severity: "note", message, hint }, "key");
}

function linkUrl(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  const { base_url: url } = upstream;
  const place = join(pointer, "base_url");
  if (url === undefined || context.isUnset(place) || url.startsWith("sim:")) return;
  const parsed = parseUrl(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    context.report(place, {
      rule: "upstream-url",
      message: "must be an http(s) URL, or sim:",
      hint: "https://api.example.com/v1",
    });
  } else if (parsed.username !== "" || parsed.password !== "" || /[?#]/.test(url)) {
    context.report(place, {
      rule: "upstream-url",
      message: "must have no user, query or fragment",
      hint: "put the key under api_keys",
    });
  }
  if (!isLocal(upstream)) linkKeys(context, upstream, pointer);
}

const LOCAL_NAMES = new Intl.ListFormat("en", { type: "disjunction" }).format(LOCAL_VENDORS);

/** Keys that mean something for some dialects only, with what says the same elsewhere. */
const DIALECTS_OF_KEY = {
  vendor: { dialects: ["openai"], remedy: "remove it: the dialect says who the vendor is" },
  api: { dialects: ["openai", "azure"], remedy: "remove it: other dialects have one endpoint for chat" },
} as const satisfies Partial<Record<keyof UpstreamConfig, unknown>>;

function linkVendor(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  const { dialect } = upstream;
  if (dialect === undefined) return;
  for (const key of ["vendor", "api"] as const) {
    const { dialects, remedy } = DIALECTS_OF_KEY[key];
    if (upstream[key] === undefined || (dialects as readonly string[]).includes(dialect)) continue;
    const message = `'${key}' has no effect in the dialect ${dialect}, only for ${dialects.join(" and ")}`;
    context.report(join(pointer, key), { rule: "vendor-dialect", message, hint: remedy }, "key");
  }
}

function linkApi(context: LinkContext, name: string, { dialect, api }: Incomplete<UpstreamConfig>): void {
  if (api !== "responses" || (dialect !== "openai" && dialect !== "azure")) return;
  const { mayHaveResponses, vendor } = context.dialects[dialect];
  const location = context.location(name);
  if (mayHaveResponses(location)) return;
  const [message, hint] =
    dialect === "azure"
      ? ["the address of one deployment has no Responses endpoint", "use auto or chat, or the resource's own address"]
      : [
          `the vendor ${vendor(location)} is not known to have a Responses endpoint`,
          "use auto or chat; where another server stands there, set vendor: generic",
        ];
  context.report(join("/upstreams", name, "api"), { rule: "vendor-api", severity: "warning", message, hint });
}

function linkKeys(context: LinkContext, upstream: Incomplete<UpstreamConfig>, pointer: string): void {
  const { api_keys: keys = [], base_url: url = "", dialect, vendor } = upstream;
  const finding = {
    rule: "empty-api-key",
    severity: context.missingSecret,
    message: "is empty",
    hint: "set the variable the key comes from",
  } as const;
  for (const [index, key] of keys.entries()) if (key === "") context.report(join(pointer, "api_keys", index), finding);
  if (keys.length > 0 || context.isInvalid(join(pointer, "api_keys")) || context.misspelt(pointer)) return;
  // A server in the next container or rack: only its vendor tells that it is the operator's own.
  const mayBeLocal = dialect === "openai" && vendor === undefined && isPrivateHost(parseUrl(url)?.hostname ?? "");
  const hint = mayBeLocal
    ? `add api_keys; a server of your own needs none with vendor: ${LOCAL_NAMES}`
    : "add api_keys";
  context.report(pointer, { ...finding, message: "has no key", hint }, "key");
}

type Settings = Pick<Incomplete<UpstreamConfig>, "timeouts" | "retries" | "breaker" | "probe">;

/** Reported where one of the two values was written; a pair of inherited ones is reported where it was. */
function linkSettings(
  context: LinkContext,
  own: Settings | undefined,
  inherited: Settings | undefined,
  pointer: string,
): void {
  const timeouts = overlay(TIMEOUTS, inherited?.timeouts, own?.timeouts);
  const retries = overlay(RETRIES, inherited?.retries, own?.retries);
  const breaker = overlay(BREAKER, inherited?.breaker, own?.breaker);
  order("breaker", ["open_for", breaker.open_for], ["max_open_for", breaker.max_open_for], "error");
  order("retries", ["min_delay", retries.min_delay], ["max_delay", retries.max_delay], "error");
  for (const key of ["connect", "first_byte", "idle"] as const) {
    order("timeouts", [key, timeouts[key]], ["total", timeouts.total], "warning");
  }
  const probe = own?.probe ?? "none";
  if (probe !== "none" && probe.every !== undefined) {
    order("probe", ["timeout", probe.timeout ?? PROBE_TIMEOUT], ["every", probe.every], "warning");
  }

  function order(section: keyof Settings, [low, least]: Pair, [high, most]: Pair, severity: "error" | "warning"): void {
    if (milliseconds(least) <= milliseconds(most)) return;
    const written = own?.[section];
    const key = [low, high].find((name) => isRecord(written) && name in written);
    if (key === undefined) return;
    const message = `${low} (${least}) is longer than ${high} (${most})`;
    context.report(join(pointer, section, key), {
      rule: "setting-order",
      severity,
      message,
      hint: `make ${high} the longer one`,
    });
  }
}

/** Bounds that something else makes meaningless: too few connections, or deadlines that end every wait before its time. */
function linkConcurrency(context: LinkContext, name: string, upstream: Incomplete<UpstreamConfig>): void {
  const { concurrency, http2 } = upstream;
  if (concurrency === undefined) return;
  const { defaults, models = {} } = context.config;
  const pointer = join("/upstreams", name, "concurrency");
  const connections = upstream.connections ?? defaults?.upstream?.connections;
  const { requests, max_wait: maxWait } = concurrency;
  const hasHttp2 = http2 ?? defaults?.upstream?.http2 ?? false;
  if (typeof connections === "number" && requests !== undefined && requests > connections && !hasHttp2) {
    const message = `is never reached: each request takes a connection, and connections is ${connections}`;
    report("requests", message, "raise connections, or remove it: concurrency is bound enough");
  }
  if (maxWait === undefined) return;
  const deadlines = Object.values(models).flatMap((model) =>
    targetsOf(model?.chain, "").some(({ target }) => target.upstream === name) && model?.kind !== undefined
      ? [model.deadline ?? defaults?.kinds?.[model.kind]?.deadline ?? DEADLINE]
      : [],
  );
  const [longest] = deadlines.toSorted((a, b) => milliseconds(b) - milliseconds(a));
  if (longest === undefined || milliseconds(maxWait) <= milliseconds(longest)) return;
  report(
    "max_wait",
    `is longer than the deadline of every model here (${longest})`,
    "make it shorter than the deadlines",
  );

  function report(key: string, message: string, hint: string): void {
    context.report(join(pointer, key), { rule: "setting-order", severity: "warning", message, hint });
  }
}

type Pair = readonly [name: string, duration: string];

const HINT = "give a service account's key file, ${file:PATH}, or application-default";
/** `aiplatform.googleapis.com`, `europe-west4-aiplatform.googleapis.com`, `aiplatform.eu.rep.googleapis.com`. */
const VERTEX_HOST = /(?:^|[.-])aiplatform\.(?:[a-z0-9-]+\.rep\.)?googleapis\.com$/;
const PUBLISHED = String.raw`/projects/[^/]+/locations/[^/]+/publishers`;
/** Whose models a dialect is spoken for at Vertex AI. Only Gemini's may be named whole by a target. */
const VERTEX: Readonly<
  Partial<Record<UpstreamConfig["dialect"], { readonly publisher: string; readonly path: RegExp }>>
> = {
  gemini: { publisher: "google", path: new RegExp(String.raw`^/v\d+(?:beta\d+)?(?:${PUBLISHED}/google)?/?$`) },
  anthropic: { publisher: "anthropic", path: new RegExp(String.raw`^/v\d+(?:beta\d+)?${PUBLISHED}/anthropic/?$`) },
};

/** Keys that are Google's credentials, and addresses of Vertex AI. */
function linkGoogle(context: LinkContext, name: string, upstream: Incomplete<UpstreamConfig>): void {
  const { dialect, api_keys: keys = [], base_url: url } = upstream;
  if (dialect === undefined) return;
  const pointer = join("/upstreams", name);
  const vertex = VERTEX[dialect];
  const address = vertex && url !== undefined ? parseUrl(url) : null;
  const isMisplaced = address !== null && VERTEX_HOST.test(address.hostname) && !vertex?.path.test(address.pathname);
  if (vertex && isMisplaced) context.report(join(pointer, "base_url"), vertexUrl(address.host, vertex.publisher));
  const google = isMisplaced || context.dialects[dialect].takesGoogleCredentials(context.location(name));
  for (const [index, key] of keys.entries()) {
    const wrong = key === undefined || !key.trimStart().startsWith("{") ? null : wrongKey(dialect, google, key);
    if (wrong !== null) context.report(join(pointer, "api_keys", index), { rule: "google-credentials", ...wrong });
  }
}

function vertexUrl(host: string, publisher: string): Finding {
  const message = "an address of Vertex AI must name version, project, location and publisher";
  return {
    rule: "upstream-url",
    message,
    hint: `https://${host}/v1/projects/PROJECT/locations/LOCATION/publishers/${publisher}`,
  };
}

/** What is wrong with a key that seems to be a key file's text, in words that hold none of it. */
function wrongKey(
  dialect: UpstreamConfig["dialect"],
  google: boolean,
  text: string,
): Pick<Finding, "message" | "hint"> | null {
  const file = parsed(text);
  if (file !== null && !google) {
    if (file["type"] !== "service_account") return null;
    const message = `the dialect ${dialect} would send the service account's key file as it is`;
    const place = dialect === "anthropic" ? "end base_url with /publishers/anthropic" : "set dialect: gemini";
    return { message, hint: `${place}, or give a key of the provider` };
  }
  if (!google) return null;
  const message = file === null ? "the upstream's key looks like JSON and is not valid JSON" : wrongFile(file);
  return message === null ? null : { message, hint: HINT };
}

function wrongFile(file: Readonly<Record<string, unknown>>): string | null {
  if (file["type"] !== "service_account") return "the upstream's key is JSON, and no service account's key file";
  const { client_email: email, private_key: key, token_uri: endpoint } = file;
  if (typeof email !== "string" || email === "") return "the service account's key file has no client_email";
  if (typeof key !== "string" || !isRsaKey(key)) return "the private_key of the service account cannot be read";
  if (endpoint === undefined || (typeof endpoint === "string" && isSafe(endpoint))) return null;
  return "the token_uri of the service account must be an https URL, or http on loopback";
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

function isSafe(text: string): boolean {
  const url = parseUrl(text);
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
}

/** The parsed URL, or null. */
export function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}
