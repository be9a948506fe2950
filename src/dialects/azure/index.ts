import { AttemptError, isJson, type Kind } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { parseJson } from "../canonical/json.ts";
import { bearer } from "../canonical/requests.ts";
import { chatAt, codecsAt, openai } from "../chat/index.ts";
import type { Codec, Location, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { RESPONSES_PATH } from "../responses/index.ts";
import { thinksByName } from "../thinking.ts";

/** The newest version of the classic interface that is no preview; the v1 interface has none. */
const API_VERSION = "2024-10-21";
/** The classic interface has the Responses API in previews alone: the newest (the page below). */
const RESPONSES_VERSION = "2025-04-01-preview";
/** Of an upstream's configured headers: the version to use instead, such as a preview. */
const VERSION_HEADER = "api-version";

interface Address {
  /** Of an operation on a deployment, such as `/chat/completions`. */
  operation(deployment: string, path: string): string;
  /** The Responses API; null at the address of one deployment, which has none. */
  readonly responses: string | null;
  readonly models: string;
  /** The deployment is named by the path: the body does without. */
  readonly named: boolean;
}

const V1 = /\/openai\/v1$/;
const DEPLOYMENT = /\/openai\/deployments\/[^/]+$/;
const OPENAI = /\/openai$/;

/**
 * Classic: `https://R.openai.azure.com[/openai[/deployments/D]]`; v1, which is as OpenAI's own: `…/openai/v1`
 * (https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle).
 */
function addressOf({ baseUrl, headers }: Location): Address {
  const configured = Object.entries(headers).find(([name]) => name.toLowerCase() === VERSION_HEADER)?.[1];
  const version = `?api-version=${encodeURIComponent(configured ?? API_VERSION)}`;
  if (V1.test(baseUrl)) {
    const asked = configured === undefined ? "" : version;
    return {
      operation: (_, path) => `${path}${asked}`,
      responses: `/responses${asked}`,
      models: `/models${asked}`,
      named: false,
    };
  }
  if (DEPLOYMENT.test(baseUrl)) {
    return { operation: (_, path) => `${path}${version}`, responses: null, models: `/models${version}`, named: true };
  }
  const prefix = OPENAI.test(baseUrl) ? "" : "/openai";
  return {
    operation: (deployment, path) => `${prefix}/deployments/${encodeURIComponent(deployment)}${path}${version}`,
    responses: `${prefix}/responses?api-version=${encodeURIComponent(configured ?? RESPONSES_VERSION)}`,
    models: `${prefix}/models${version}`,
    named: true,
  };
}

const KINDS: readonly Kind[] = ["chat", "embedding", "speech", "transcription", "image"];
/** Tokens of Entra ID are signed JSON; keys are not. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** Azure OpenAI at one upstream's address: OpenAI's formats under paths, with keys and versions of its own. */
export function azureAt(location: Location): UpstreamDialect {
  const address = addressOf(location);
  const { api = "auto" } = location;
  const chatLocation: Location = address.responses === null && api === "auto" ? { ...location, api: "chat" } : location;
  const own = codecsAt(location, chatAt(chatLocation, "azure", address.named));
  const codecs = KINDS.flatMap((kind) => {
    const codec = own[kind];
    return codec ? [[kind, addressed(codec, kind, address)] as const] : [];
  });
  return {
    name: "azure",
    thinks: thinksByName,
    cachesUnasked: true,
    mayHaveResponses: (at) => addressOf(at).responses !== null,
    codecs: Object.fromEntries(codecs),
    probe: (apiKey) => withKey({ ...openai.probe(""), path: address.models }, apiKey),
    errorMessage,
  };
}

/** At a resource without a path of its own, in the version that is used where none is configured. */
export const azure: UpstreamDialect = { ...azureAt({ baseUrl: "", headers: {} }), at: azureAt };

function addressed<C extends Codec>(codec: C, kind: Kind, address: Address): C {
  return {
    ...codec,
    request(call, target, apiKey) {
      const request = codec.request(call, target, "");
      // One endpoint for all deployments: the body names the one that is meant.
      if (request.path === RESPONSES_PATH) return withKey({ ...request, path: responsesPath(address) }, apiKey);
      const path = address.operation(target.model, request.path);
      const own = address.named && kind !== "chat" ? withoutModel(request) : request;
      return withKey({ ...own, path }, apiKey);
    },
  };
}

function responsesPath({ responses }: Address): string {
  if (responses === null) throw new AttemptError("unsupported", "there is no Responses API at a deployment's address");
  return responses;
}

/** A form keeps it: Azure passes over what the path has said. */
function withoutModel(request: UpstreamRequest): UpstreamRequest {
  const { body: written } = request;
  const long = written !== null && typeof written === "object" && "json" in written;
  const body = long ? written.json : typeof written === "string" ? parseJson(written) : null;
  if (!isJson(body)) return request;
  const { model: _deployment, ...rest } = body;
  return { ...request, body: long ? { json: rest } : JSON.stringify(rest) };
}

function withKey(request: UpstreamRequest, apiKey: string): UpstreamRequest {
  if (apiKey === "") return request;
  const credentials: Readonly<Record<string, string>> = TOKEN.test(apiKey) ? bearer(apiKey) : { "api-key": apiKey };
  return { ...request, headers: { ...request.headers, ...credentials } };
}
