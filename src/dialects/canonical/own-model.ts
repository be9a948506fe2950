import { type Accepts, type Call, isJson, type Json } from "../../kit/index.ts";
import type { AnswerCodec, Codec, UpstreamDialect } from "../dialect.ts";
import { acceptsBeta, withHeaderBetas } from "./betas.ts";
import { clientPointer } from "./parameters.ts";
import { asks, escaped, type KeptBack, without } from "./report.ts";

/* A client reaches and pays for the target's model alone, unless the upstream's `accepts.fields` says otherwise. */

/**
 * Top-level fields by which an upstream would serve another model, serve it elsewhere, bill it at another rate, or run
 * something paid beside it:
 * - OpenRouter: https://openrouter.ai/docs/api-reference/overview (`models`, `route`, `provider`, `transforms`, `plugins`,
 *   `preset`); the same of its kind: `fallbacks`, `fallback_models`, `fallback_model`
 * - LiteLLM: https://docs.litellm.ai/docs/proxy/reliability (`fallbacks` and kin, `api_base`, `api_key`, …),
 *   https://docs.litellm.ai/docs/proxy/clientside_auth (`user_config`), and what it hands on to Bedrock
 *   (`performanceConfig`, `serviceTier`)
 * - Vercel: https://vercel.com/docs/ai-gateway/models-and-providers/provider-options (`providerOptions`)
 * - OpenAI: `service_tier`, `web_search_options`; xAI: `search_parameters` (https://docs.x.ai/docs/guides/live-search)
 * - Alibaba: `enable_search`, `search_options`; Groq: `compound_custom`, `search_settings`; Together: `safety_model`
 * - LM Studio: `draft_model`; Anthropic, at its OpenAI-compatible endpoint and behind proxies: `speed`, `inference_geo`,
 *   `billing_policy`, `fallback_credit_token`, `container`
 */
export const OTHER_MODEL_OR_RATE: ReadonlySet<string> = new Set([
  "fallbacks",
  "fallback_models",
  "fallback_model",
  "models",
  "route",
  "provider",
  "transforms",
  "plugins",
  "preset",
  "service_tier",
  "web_search_options",
  "search_parameters",
  "search_settings",
  "search_options",
  "enable_search",
  "compound_custom",
  "safety_model",
  "draft_model",
  "speed",
  "inference_geo",
  "billing_policy",
  "fallback_credit_token",
  "container",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "api_base",
  "base_url",
  "api_key",
  "api_version",
  "custom_llm_provider",
  "model_list",
  "user_config",
  "providerOptions",
  "performanceConfig",
  "serviceTier",
  "extra_headers",
  "extra_body",
]);

/** What of a dialect's requests reaches another model, or what is billed at another rate than the target's. */
export interface PaidExtras {
  /** Top-level fields, canonical ones and those of the client's own dialect. */
  readonly fields: ReadonlySet<string>;
  /**
   * The name under which a beta is sent; undefined: it is not, unless `accepts` names it. Left out: the dialect has no
   * betas.
   */
  readonly beta?: (name: string) => string | undefined;
  /** Takes out what else there is. */
  readonly keepBack?: (call: Call, stays: Staying) => KeptBack;
}

/** By what the dialect's own rules decide what stays behind. */
interface Staying {
  /** Fields, tools and betas that the upstream's `accepts` names. */
  readonly accepted: ReadonlySet<string>;
  /** The names of betas that the client asked for and that are not sent. */
  readonly lostBetas: readonly string[];
}

/**
 * The codec of a dialect whose clients reach and pay for the target's model alone: fields by which the
 * upstream would serve or bill another, or at another rate, stay behind and are reported.
 */
export function ownModelOnly(codec: AnswerCodec, paid: PaidExtras, accepts?: Accepts): AnswerCodec {
  const accepted: ReadonlySet<string> = new Set(accepts?.fields);
  const fields = paid.fields.difference(accepted);
  const { beta } = paid;
  const sentAs = (name: string): string | undefined =>
    beta !== undefined && acceptsBeta(name, accepted) ? name : beta?.(name);
  return {
    ...codec,
    request(call, target, apiKey) {
      const first = withoutFields(call, fields);
      const betas = withHeaderBetas(first.call, sentAs);
      const last = paid.keepBack?.(betas.call, { accepted, lostBetas: betas.lost });
      const kept = last?.call ?? betas.call;
      const request = codec.request(kept, target, apiKey);
      const dropped = [...first.dropped, ...betas.dropped, ...(last?.dropped ?? [])];
      return dropped.length === 0 ? request : { ...request, dropped: [...dropped, ...(request.dropped ?? [])] };
    },
  };
}

type Codecs = UpstreamDialect["codecs"];

/** How fast is spoken. */
const OF_SPEECH = ["speed"];

/** Codecs of which those of every kind but chat, whose fields travel as they came, send none of OTHER_MODEL_OR_RATE. */
export function withOwnModels(codecs: Codecs, accepts?: Accepts): Codecs {
  const refused = OTHER_MODEL_OR_RATE.difference(new Set([...(accepts?.fields ?? []), ...OF_SPEECH]));
  return Object.fromEntries(
    Object.entries(codecs).map(([kind, codec]) => [kind, kind === "chat" ? codec : bounded(codec, refused)]),
  );
}

function bounded<C extends Codec>(codec: C, refused: ReadonlySet<string>): C {
  return {
    ...codec,
    request(call, target, apiKey) {
      const { call: kept, dropped } = withoutFields(call, refused);
      const request = codec.request(kept, target, apiKey);
      return dropped.length === 0 ? request : { ...request, dropped: [...(request.dropped ?? []), ...dropped] };
    },
  };
}

function withoutFields(call: Call, fields: ReadonlySet<string>): KeptBack {
  const { body, native = {} } = call;
  const canonical = Object.keys(body).filter((name) => fields.has(name));
  const own = Object.keys(native).filter((name) => fields.has(name));
  if (canonical.length + own.length === 0) return { call, dropped: [] };
  return {
    call: { ...call, body: without(body, canonical), ...(own.length > 0 && { native: without(native, own) }) },
    dropped: [...missed(body, canonical).map((pointer) => clientPointer(call, pointer)), ...missed(native, own)],
  };
}

/** Pointers of what is missed. An object asks by being there: `web_search_options: {}` is a search. */
function missed(from: Json, names: readonly string[]): readonly string[] {
  return names.filter((name) => asks(name, from[name]) || isJson(from[name])).map((name) => `/${escaped(name)}`);
}
