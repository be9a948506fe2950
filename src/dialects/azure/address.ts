import type { Location } from "../dialect.ts";

/** The newest version of the classic interface that is no preview; the v1 interface has none. */
export const API_VERSION = "2024-10-21";
/** The classic interface has the Responses API in previews alone: the newest (the page below). */
export const RESPONSES_VERSION = "2025-04-01-preview";
/** Of an upstream's configured headers: the version to use instead, such as a preview. */
export const VERSION_HEADER = "api-version";

export interface Address {
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
export function addressOf({ baseUrl, headers }: Location): Address {
  const wanted = Object.entries(headers).find(([name]) => name.toLowerCase() === VERSION_HEADER)?.[1];
  const version = `?api-version=${encodeURIComponent(wanted ?? API_VERSION)}`;
  if (V1.test(baseUrl)) {
    const asked = wanted === undefined ? "" : version;
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
    responses: `${prefix}/responses?api-version=${encodeURIComponent(wanted ?? RESPONSES_VERSION)}`,
    models: `${prefix}/models${version}`,
    named: true,
  };
}
