import { AttemptError, isJson, type Kind } from "../../kit/index.ts";
import { errorMessage } from "../errors.ts";
import type { Codec, Location, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { parseJson } from "../json.ts";
import { chatAt } from "../openai/chat.ts";
import { codecsAt, openai } from "../openai/index.ts";
import { bearer } from "../requests.ts";
import { RESPONSES_PATH } from "../responses/index.ts";
import { type Address, addressOf } from "./address.ts";

const KINDS: readonly Kind[] = ["chat", "embedding", "speech", "transcription", "image"];
/** Tokens of Entra ID are signed JSON; keys are not. */
const TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** Azure OpenAI at one upstream's address: OpenAI's formats under paths, with keys and versions of its own. */
export function azureAt(location: Location): UpstreamDialect {
  const address = addressOf(location);
  const { api = "auto" } = location;
  const spoken: Location = address.responses === null && api === "auto" ? { ...location, api: "chat" } : location;
  const own = codecsAt(location, chatAt(spoken, "azure", address.named));
  const codecs = KINDS.flatMap((kind) => {
    const codec = own[kind];
    return codec ? [[kind, addressed(codec, kind, address)] as const] : [];
  });
  return {
    name: "azure",
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
  const body = typeof request.body === "string" ? parseJson(request.body) : null;
  if (!isJson(body)) return request;
  const { model: _deployment, ...rest } = body;
  return { ...request, body: JSON.stringify(rest) };
}

function withKey(request: UpstreamRequest, apiKey: string): UpstreamRequest {
  if (apiKey === "") return request;
  const credentials: Readonly<Record<string, string>> = TOKEN.test(apiKey) ? bearer(apiKey) : { "api-key": apiKey };
  return { ...request, headers: { ...request.headers, ...credentials } };
}
