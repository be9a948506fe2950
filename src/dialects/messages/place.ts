import type { Call, Json, Target } from "../../kit/index.ts";
import { bearer, getJson, type JsonRequest, postJson } from "../canonical/requests.ts";
import type { UpstreamRequest } from "../dialect.ts";
import { ofMessages } from "./native.ts";

/** Where the Messages format is served, and what of a request hangs on that. */
export interface Place {
  /** The version whose rules a call follows there. */
  versionOf(call: Call): string;
  /** The betas that are asked for there, as the header has them; undefined: none. */
  betasOf(call: Call): string | undefined;
  /** Images and documents must come inside the request: no address is followed, and no uploaded file is known. */
  readonly inlineMedia: boolean;
  /** Sends a body that names its model, under the place's own address and with its credentials. */
  post(body: Json, sending: Sending): JsonRequest;
  /** A request that proves address and key and that nobody bills. */
  probe(apiKey: string): UpstreamRequest;
}

export interface Sending {
  readonly call: Call;
  readonly target: Target;
  readonly apiKey: string;
}

type Headers = Readonly<Record<string, string>>;

/** The version whose rules translated requests follow; later ones refuse `temperature` and its like. */
export const VERSION = "2023-06-01";

/** The betas that a Messages client asks for, as its header has them. */
export function clientBetas(call: Call): string | undefined {
  return ofMessages(call) ? call.headers?.["anthropic-beta"] : undefined;
}

/** The media type of the answer that a call asks for. */
export function acceptOf({ stream }: Call): string {
  return stream ? "text/event-stream" : "application/json";
}

/** Anthropic's own API, and servers that copy it. */
export const API: Place = {
  versionOf: (call) => (ofMessages(call) ? call.headers?.["anthropic-version"] : undefined) ?? VERSION,
  betasOf: clientBetas,
  inlineMedia: false,
  post(body, { call, apiKey }) {
    const sent = postJson("/v1/messages", "", body, acceptOf(call));
    const betas = API.betasOf(call);
    return {
      ...sent,
      headers: {
        ...sent.headers,
        ...credentials(apiKey),
        "anthropic-version": API.versionOf(call),
        ...(betas === undefined ? {} : { "anthropic-beta": betas }),
      },
    };
  },
  probe(apiKey) {
    const sent = getJson("/v1/models", "");
    return { ...sent, headers: { ...sent.headers, ...credentials(apiKey), "anthropic-version": VERSION } };
  },
};

/** No header for an empty key; OAuth tokens are known by their beginning. */
function credentials(apiKey: string): Headers {
  return apiKey === "" || apiKey.startsWith("sk-ant-oat") ? bearer(apiKey) : { "x-api-key": apiKey };
}
