import type { TargetConfig, UpstreamConfig } from "#schema";
import { isLocal } from "../config/local.ts";
import { type Draft, upstreamPointer } from "./draft.ts";
import { addressOf, credentialsHeader, headersOf, isStandIn, keyText } from "./endpoints.ts";
import { type Named, type Provider, providerNamed, VERTEX_VARIABLE } from "./providers.ts";
import { literal } from "./secrets.ts";
import { type Field, numberOf } from "./source.ts";

/**
 * The parameters of one deployment, by LiteLLM's names for them (`api_base`, `api_key`, `aws_region_name` …), whatever the
 * source calls them.
 */
export type Params = (key: string) => Field | undefined;

/** Where a deployment sends its requests. */
export interface Destination {
  readonly provider: Named;
  /** The provider's own name for the model. */
  readonly model: string;
  /** What differs from the source; null where nothing does. */
  readonly difference: string | null;
  /** What the upstream is called; the provider's name unless given. */
  readonly name?: string;
  /** The address is a resource of Azure AI Foundry, which has several endpoints. */
  readonly isFoundry?: true;
  /** What the source leaves out at the end of addresses, such as `/v1`. */
  readonly suffix?: string;
  /** The variable that its key is in, unless the source says another; that of the provider's SDK unless given. */
  readonly variable?: string;
}

/** @param settings what else the upstream has. @returns a target and its upstream, or null, and told, where there is no way to write it. */
export function targetOf(
  draft: Draft,
  params: Params,
  modelField: Field,
  destination: Destination,
  settings: Partial<UpstreamConfig> = {},
): { readonly target: TargetConfig; readonly isLocal: boolean } | null {
  const { provider: named, model, name = named } = destination;
  if (model.trim() === "") {
    draft.findings.lost(modelField, "names no model of the provider");
    return null;
  }
  const known = providerNamed(named);
  const { variable = known.variable, suffix } = destination;
  const provider: Provider = { ...known, variable, ...(suffix !== undefined && { suffix }) };
  const place = placeOf(draft, params, modelField, { ...destination, provider });
  if (place === null) return null;
  const headers = headersOf(draft, headersIn(params), { wanted: place.variable, key: place.keyField });
  const isKnownByHost = !provider.local && place.baseUrl === provider.baseUrl;
  const upstream: UpstreamConfig = {
    dialect: provider.dialect,
    ...(provider.vendor !== undefined && !isKnownByHost && { vendor: provider.vendor }),
    base_url: place.baseUrl,
    ...(place.keys.length > 0 && { api_keys: place.keys }),
    ...((Object.keys(headers.headers).length > 0 || place.headers !== undefined) && {
      headers: { ...place.headers, ...headers.headers },
    }),
    ...place.concurrency,
    ...retriesOf(params),
    ...settings,
  };
  const upstreamName = draft.addUpstream(name, upstream, place.hint ?? undefined);
  const pointer = (...keys: readonly (string | number)[]): string => upstreamPointer(upstreamName, ...keys);
  for (const tell of place.tells) tell(pointer);
  headers.tell((header) => pointer("headers", header));
  for (const key of ["max_retries", "num_retries"])
    draft.findings.changed(
      params(key),
      pointer("retries", "attempts"),
      "tries at this upstream, the first one included",
    );
  return { target: { upstream: upstreamName, model: literal(model) }, isLocal: isLocal(upstream) };
}

const MAX_RETRIES_COUNT = 20;

function retriesOf(params: Params): Pick<UpstreamConfig, "retries"> {
  const retries = numberOf(params("max_retries") ?? params("num_retries"));
  return retries !== null && Number.isInteger(retries) && retries >= 0 && retries <= MAX_RETRIES_COUNT
    ? { retries: { attempts: retries + 1 } }
    : {};
}

const MAX_PARALLEL_COUNT = 1_000_000;
const TESTED_VERSION = "2024-10-21";

function headersIn(params: Params): readonly (Field | undefined)[] {
  return [params("extra_headers"), params("default_headers"), params("headers")];
}

type Tell = (pointer: (...keys: readonly (string | number)[]) => string) => void;

/** Address and credentials of an upstream, as each kind of provider has them. */
interface Place {
  readonly baseUrl: string;
  readonly keys: string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly concurrency?: Pick<UpstreamConfig, "concurrency">;
  readonly hint: string | null;
  /** What the key comes from. */
  readonly keyField?: Field;
  /** The variable that secrets are put into. */
  readonly variable: string;
  readonly tells: readonly Tell[];
}

interface Spot extends Pick<Destination, "isFoundry"> {
  readonly provider: Provider;
}

function placeOf(draft: Draft, params: Params, modelField: Field, spot: Spot): Place | null {
  const { provider } = spot;
  if (provider.dialect === "bedrock") return onBedrock(draft, params, modelField);
  if (provider.variable === VERTEX_VARIABLE)
    return atGoogle(draft, params, provider.dialect === "gemini" ? "google" : "anthropic");
  return byKey(draft, params, modelField, spot);
}

/** An address and an API key. */
function byKey(draft: Draft, params: Params, modelField: Field, { provider, isFoundry }: Spot): Place | null {
  const { findings } = draft;
  const baseField = params("api_base") ?? params("base_url");
  const prefix = variablePrefix(provider.variable);
  const address = baseField?.text == null ? null : addressOf(draft, baseField, provider, `${prefix}_API_BASE`);
  if (baseField?.text != null && address === null) {
    findings.lost(modelField, "its address cannot be used");
    return null;
  }
  if (params("base_url") !== undefined && params("base_url") !== baseField)
    findings.lost(params("base_url"), "api_base stands beside it, and wins");
  const variable = `${prefix}_API_BASE`;
  const written =
    address?.baseUrl ?? provider.baseUrl ?? `\${env:${draft.variables.use(variable)}}${provider.local ? "/v1" : ""}`;
  const baseUrl = isFoundry ? atFoundry(written, provider) : written;
  const tells: Tell[] = [];
  if (address !== null && baseField !== undefined) tells.push((at) => address.tell(at("base_url")));
  if (address === null && provider.baseUrl === null)
    tells.push(() =>
      findings.changed(modelField, null, `has no api_base: its address comes from the variable ${variable}`),
    );
  const keyField = params("api_key") ?? params("azure_ad_token") ?? credentialsHeader(headersIn(params));
  const isOwnServer = isLocal({ base_url: baseUrl, ...(provider.vendor !== undefined && { vendor: provider.vendor }) });
  const keys: string[] = [];
  const isOther = address !== null && address.baseUrl !== provider.baseUrl;
  if (keyField !== undefined && !(isStandIn(keyField) && (isOwnServer || isOther))) {
    const secret = draft.secret(keyField, provider.variable, keyText(keyField));
    keys.push(secret.text);
    tells.push((at) => secret.tell(at("api_keys", 0)));
  } else if (isOwnServer || keyField !== undefined) {
    if (!isOwnServer) keys.push("none");
    if (keyField !== undefined)
      tells.push(() => findings.mapped(keyField, null, "stands for no key: the server asks for none"));
  } else {
    keys.push(`\${env:${draft.variables.use(provider.variable)}}`);
  }
  const headers: Record<string, string> = {};
  const versionField = params("api_version");
  const version = versionField?.text ?? address?.version ?? null;
  if (version !== null && provider.dialect === "azure") {
    const named = draft.referenceOf(versionField);
    headers["api-version"] = named === null ? literal(version) : `\${env:${draft.variables.use(named)}}`;
    // Without a version Azure answers 404, also the simulated one of tests.
    if (named !== null) draft.testVariables.set(named, TESTED_VERSION);
    if (named === null && !/^[\w.-]{1,40}$/.test(version)) {
      findings.lost(versionField, "is no version of Azure's API");
      delete headers["api-version"];
    } else tells.push((at) => findings.mapped(versionField, at("headers", "api-version")));
  } else if (versionField !== undefined) findings.mapped(versionField, null, "is not needed: only Azure has versions");
  const organization = params("organization") ?? params("openai_organization");
  if (organization?.text != null) {
    const secret = draft.secret(organization, "OPENAI_ORGANIZATION");
    headers["openai-organization"] = secret.text;
    tells.push((at) => secret.tell(at("headers", "openai-organization")));
  }
  const parallel = Number(params("max_parallel_requests")?.text);
  const concurrency =
    Number.isInteger(parallel) && parallel > 0 && parallel <= MAX_PARALLEL_COUNT
      ? { concurrency: { requests: parallel } }
      : undefined;
  if (concurrency !== undefined)
    tells.push((at) =>
      findings.changed(
        params("max_parallel_requests"),
        at("concurrency", "requests"),
        "bounds the requests of one process to this upstream; those beyond wait",
      ),
    );
  return {
    baseUrl,
    keys,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(concurrency !== undefined && { concurrency }),
    hint: address?.hint ?? null,
    ...(keyField !== undefined && { keyField }),
    variable: prefix,
    tells,
  };
}

/** The endpoint of a Foundry resource for Claude, and for the others. */
function atFoundry(baseUrl: string, { dialect }: Provider): string {
  const resource = baseUrl.replace(/\/(?:models|anthropic|openai)(?:\/.*)?$/, "");
  return dialect === "anthropic" ? `${resource}/anthropic` : `${resource}/openai/v1`;
}

function variablePrefix(variable: string): string {
  return variable.replace(/_(?:API_)?(?:KEY|TOKEN)$/, "");
}

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/;

/** A region, and keys that sign requests or a bearer key. */
function onBedrock(draft: Draft, params: Params, modelField: Field): Place {
  const { findings, variables } = draft;
  const tells: Tell[] = [];
  const region = params("aws_region_name") ?? params("region_name");
  const inModel = /(?:^|\/)([a-z]{2}(?:-gov)?-[a-z]+-\d)\//.exec(modelField.text ?? "")?.[1] ?? null;
  const named = draft.referenceOf(region);
  const isRegion = REGION.test(region?.text ?? "");
  if (named === null && !isRegion && region?.text != null) findings.lost(region, "is no region of AWS");
  const fixed = isRegion ? region!.text! : inModel;
  const host =
    named === null
      ? (fixed ?? `\${env:${variables.use("AWS_REGION_NAME")}:-us-east-1}`)
      : `\${env:${variables.use(named)}}`;
  if (host === region?.text || named !== null)
    tells.push((at) => findings.mapped(region, at("base_url"), "is the region in base_url"));
  const endpoint = params("aws_bedrock_runtime_endpoint") ?? params("api_base");
  const address =
    endpoint?.text == null
      ? null
      : addressOf(draft, endpoint, providerNamed("bedrock"), "AWS_BEDROCK_RUNTIME_ENDPOINT");
  if (address !== null) tells.push((at) => address.tell(at("base_url")));
  const bearer = params("api_key");
  const id = params("aws_access_key_id");
  const secret = params("aws_secret_access_key");
  const token = params("aws_session_token");
  const parts: string[] = [];
  if (bearer?.text != null) {
    const key = draft.secret(bearer, providerNamed("bedrock").variable);
    parts.push(key.text);
    tells.push((at) => key.tell(at("api_keys", 0)));
  } else {
    for (const [field, variable] of [
      [id, "AWS_ACCESS_KEY_ID"],
      [secret, "AWS_SECRET_ACCESS_KEY"],
      [token, "AWS_SESSION_TOKEN"],
    ] as const) {
      if (field?.text != null) {
        const key = draft.secret(field, variable);
        parts.push(key.text);
        tells.push((at) => key.tell(at("api_keys", 0)));
      } else if (variable !== "AWS_SESSION_TOKEN") parts.push(`\${env:${variables.use(variable)}}`);
    }
  }
  return {
    baseUrl: address?.baseUrl ?? `https://bedrock-runtime.${host}.amazonaws.com`,
    keys: [parts.join(":")],
    hint: REGION.test(host) ? host : null,
    variable: "AWS",
    tells,
  };
}

/** Project and location, and a service account's file or the machine's own credentials. */
function atGoogle(draft: Draft, params: Params, publisher: "google" | "anthropic"): Place {
  const { findings, variables, secrets } = draft;
  const tells: Tell[] = [];
  const part = (field: Field | undefined, fallback: () => string): string => {
    const named = draft.referenceOf(field);
    if (named !== null) {
      tells.push((at) => findings.mapped(field, at("base_url"), `is part of base_url, from the variable ${named}`));
      return `\${env:${variables.use(named)}}`;
    }
    const text = field?.text?.trim() ?? "";
    if (/^[a-z][a-z0-9:.-]{1,60}$/.test(text) && secrets.isPublic(text)) {
      tells.push((at) => findings.mapped(field, at("base_url"), "is part of base_url"));
      return text;
    }
    if (field?.text != null) findings.lost(field, "cannot stand in an address");
    return fallback();
  };
  const project = part(
    params("vertex_project") ?? params("vertex_ai_project"),
    () => `\${env:${variables.use("VERTEXAI_PROJECT")}}`,
  );
  const location = part(
    params("vertex_location") ?? params("vertex_ai_location") ?? params("region_name"),
    () => "global",
  );
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  const credentials = params("vertex_credentials") ?? params("vertex_ai_credentials");
  return {
    baseUrl: `https://${host}/v1/projects/${project}/locations/${location}/publishers/${publisher}`,
    keys: [credentialsOf(draft, credentials, tells)],
    hint: /^[a-z0-9-]+$/.test(location) ? location : null,
    variable: "GOOGLE",
    tells,
  };
}

/** A service account's key file. */
const KEY_FILE = /^[\w./~ -]+\.json$/;

function credentialsOf(draft: Draft, field: Field | undefined, tells: Tell[]): string {
  const { findings } = draft;
  if (field === undefined || (field.kind === "scalar" && (field.text ?? "") === "")) {
    if (field !== undefined) tells.push((at) => findings.mapped(field, at("api_keys", 0)));
    return "application-default";
  }
  const named = draft.referenceOf(field);
  const text = field.text?.trim() ?? "";
  if (named === null && field.kind === "scalar" && KEY_FILE.test(text) && draft.secrets.isPublic(text)) {
    const name = draft.variables.nameOf(text, "GOOGLE_CREDENTIALS");
    const reason = `is a file, which may be elsewhere here: put what it holds into the variable ${name}, or write \${file:PATH} in its place`;
    tells.push((at) => findings.changed(field, at("api_keys", 0), reason));
    return `\${env:${name}}`;
  }
  if (field.kind === "scalar") {
    const secret = draft.secret(field, "GOOGLE_CREDENTIALS");
    tells.push((at) => secret.tell(at("api_keys", 0)));
    return secret.text;
  }
  const name = draft.variables.nameOf(`${field.path}`, "GOOGLE_CREDENTIALS");
  tells.push((at) =>
    findings.changed(
      field,
      at("api_keys", 0),
      `is a secret that is not copied: put the whole key file, as JSON, into the variable ${name}`,
    ),
  );
  return `\${env:${name}}`;
}
