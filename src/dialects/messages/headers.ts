import type { Call } from "../../kit/index.ts";
import { bearer } from "../canonical/requests.ts";
import { ofMessages } from "./native.ts";

type Headers = Readonly<Record<string, string>>;

/** The version whose rules translated requests follow; later ones refuse `temperature` and its like. */
export const VERSION = "2023-06-01";

/** The version a call is sent under: a Messages client's own. */
export function versionOf(call: Call): string {
  return (ofMessages(call) ? call.headers?.["anthropic-version"] : undefined) ?? VERSION;
}

/** The betas that a Messages client asks for, as its header has them. */
export function betasOf(call: Call): string | undefined {
  return ofMessages(call) ? call.headers?.["anthropic-beta"] : undefined;
}

export function headersOf(call: Call, apiKey: string): Headers {
  const beta = betasOf(call);
  return {
    ...credentials(apiKey),
    "anthropic-version": versionOf(call),
    ...(beta === undefined ? {} : { "anthropic-beta": beta }),
  };
}

/** No header for an empty key; OAuth tokens are known by their beginning. */
export function credentials(apiKey: string): Headers {
  return apiKey === "" || apiKey.startsWith("sk-ant-oat") ? bearer(apiKey) : { "x-api-key": apiKey };
}
