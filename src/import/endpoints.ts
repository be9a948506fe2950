import type { UpstreamConfig } from "#schema";
import type { Draft } from "./draft.ts";
import type { Provider } from "./providers.ts";
import { literal } from "./secrets.ts";
import type { Field } from "./source.ts";

/** The `base_url` that an address of the source becomes. */
export interface Address {
  readonly baseUrl: string;
  /** The `api-version` that was in its query. */
  readonly version: string | null;
  /** Part of the host, to tell upstreams apart; null when it comes from a variable. */
  readonly hint: string | null;
  /** Tells what became of it. */
  readonly tell: (target: string | null) => void;
}

/** What sources write behind the base address, which the gateway adds itself. */
const OPERATION =
  /\/(?:chat\/completions|completions|embeddings|rerank|responses|messages|images\/generations|audio\/(?:speech|transcriptions))\/?$/;

/**
 * The address of a field, as a provider's upstream has it: without user, query and path of one operation, with `/v1` where
 * the server demands it. null, and told, for one that is no URL.
 */
export function addressOf(draft: Draft, field: Field, provider: Provider, wanted: string): Address | null {
  const { findings, variables, secrets } = draft;
  const named = draft.referenceOf(field);
  if (named !== null) {
    const name = variables.use(named);
    const suffix = provider.local || provider.suffix !== undefined ? localSuffix(name) : "";
    const reason = suffix === "" ? `comes from the variable ${name}` : `comes from ${name}, ${suffix.why}`;
    return {
      baseUrl: `\${env:${name}}${suffix === "" ? "" : suffix.path}`,
      version: null,
      hint: null,
      tell: (target) =>
        suffix === "" ? findings.mapped(field, target, reason) : findings.changed(field, target, reason),
    };
  }
  const text = (field.text ?? "").trim();
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    findings.lost(field, "is no http or https address: write base_url of the upstream by hand");
    return null;
  }
  if (VERTEX_HOST.test(url.hostname) && !url.pathname.includes("/projects/")) {
    findings.lost(field, "names no project and location of Vertex AI: write base_url of the upstream by hand");
    return null;
  }
  const version = url.searchParams.get("api-version");
  const path = pathOf(url, provider);
  const bare = `${url.protocol}//${url.host}${path}`;
  const hint = url.hostname.split(".")[0]!;
  const isPrivate =
    url.username !== "" || url.password !== "" || [...url.searchParams.keys()].some((key) => key !== "api-version");
  if (!secrets.isPublic(bare)) {
    const name = variables.nameOf(bare, wanted);
    const reason = `holds what may be a secret, and is not copied: put the address into the variable ${name}`;
    return {
      version,
      baseUrl: `\${env:${name}}`,
      hint: null,
      tell: (target) => findings.changed(field, target, reason),
    };
  }
  const tell = (target: string | null): void => {
    if (isPrivate)
      findings.changed(
        field,
        target,
        "without the user, password or query, which base_url may not have: use api_keys or headers",
      );
    else if (bare.replace(/\/$/, "") === text.replace(/\/$/, "")) findings.mapped(field, target);
    else findings.changed(field, target, `is ${bare} here: the gateway adds the paths of operations itself`);
  };
  return { version, baseUrl: literal(bare), hint: secrets.isPublic(hint) ? hint : null, tell };
}

const VERTEX_HOST = /(?:^|[.-])aiplatform\.googleapis\.com$/;

/** What a server of one's own answers below. */
function localSuffix(name: string): "" | { readonly path: string; readonly why: string } {
  return /V1$/.test(name) ? "" : { path: "/v1", why: "with /v1 behind it: set it to the address without a path" };
}

function pathOf(url: URL, { dialect, local, suffix = "" }: Provider): string {
  let path = url.pathname.replace(OPERATION, "").replace(/\/+$/, "");
  if (dialect === "anthropic" && path === "/v1") path = "";
  if (dialect === "openai" && local && (path === "" || path === "/api")) path = "/v1";
  if (dialect === "openai" && suffix !== "" && !/\/v\d+(?:\w+)?(?:\/openai)?$/.test(path)) path += suffix;
  if (dialect === "azure") path = path.replace(/\/openai\/deployments(?:\/.*)?$/, "").replace(/\/openai$/, "");
  return path;
}

/** Headers whose values name an application or a version, and are no credentials. */
const PLAIN_HEADERS =
  /^(?:http-referer|referer|x-title|x-openrouter-title|user-agent|anthropic-(?:version|beta)|accept(?:-.*)?|content-type|x-app(?:-name)?|editor-version|editor-plugin-version|copilot-integration-id|openai-beta)$/i;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Set by the gateway itself. */
const OWN_HEADERS =
  /^(?:connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*|host|content-type)$/i;

export interface Headers {
  readonly headers: NonNullable<UpstreamConfig["headers"]>;
  readonly tell: (target: (name: string) => string) => void;
}

/** Headers in which dialects send keys: configured, they would replace all of `api_keys`. */
const CREDENTIALS = /^(?:authorization|x-api-key|api-key|x-goog-api-key|xi-api-key)$/i;

/** The header that carries a key, where the source has none elsewhere. */
export function credentialsHeader(fields: readonly (Field | undefined)[]): Field | undefined {
  const headers = fields.flatMap((field) => [...(field?.entries ?? [])]);
  return headers.find(([name, value]) => CREDENTIALS.test(name) && value.text !== null)?.[1];
}

/** The key that a header or a field of the source holds. */
export function keyText(field: Field): string {
  return (field.text ?? "").replace(/^Bearer\s+/i, "");
}

/**
 * Configured headers: only values that are known to be no credentials are copied, all others come from variables.
 * @param key the field that the upstream's key comes from, which may be a header.
 */
export function headersOf(
  draft: Draft,
  fields: readonly (Field | undefined)[],
  { wanted, key }: { readonly wanted: string; readonly key: Field | undefined },
): Headers {
  const headers: Record<string, string> = {};
  const tells: ((target: (name: string) => string) => void)[] = [];
  for (const field of fields) {
    for (const [name, value] of field?.entries ?? []) {
      if (value.kind !== "scalar" || !HEADER_NAME.test(name)) {
        draft.findings.lost(value, "is no header with one line of text");
        continue;
      }
      if (CREDENTIALS.test(name)) {
        if (value !== key) draft.findings.lost(value, "would replace the keys of api_keys: put its key there instead");
        continue;
      }
      if (OWN_HEADERS.test(name)) {
        draft.findings.lost(value, "the gateway sets this header itself");
        continue;
      }
      const text = value.text ?? "";
      if (
        PLAIN_HEADERS.test(name) &&
        draft.referenceOf(value) === null &&
        isLine(text) &&
        draft.secrets.isPublic(text)
      ) {
        headers[name] = literal(text);
        tells.push((target) => draft.findings.mapped(value, target(name)));
        continue;
      }
      const secret = draft.secret(value, `${wanted}_${name}`.toUpperCase());
      headers[name] = secret.text;
      tells.push((target) => secret.tell(target(name)));
    }
  }
  return { headers, tell: (target) => tells.forEach((tell) => tell(target)) };
}

function isLine(text: string): boolean {
  return text !== "" && !/[\r\n\0]/.test(text);
}

const STAND_IN =
  /^(?:empty|none|null|dummy(?:[-_]?(?:api[-_]?)?key)?|fake(?:[-_]?(?:api[-_]?)?key)?|not[-_ ]?(?:needed|used|required)|no[-_]?key(?:[-_]?(?:needed|required))?|anything|ollama|lm[-_]?studio|vllm|x+|placeholder|local|test|na|n\/a|-)$/i;

/** True for what people write where a server asks for no key. */
export function isStandIn(field: Field | undefined): boolean {
  return field === undefined || field.text === null || field.text.trim() === "" || STAND_IN.test(field.text.trim());
}
