import type { DialectName, Json, ListedModel } from "../../kit/index.ts";
import type { Location } from "../dialect.ts";
import { AZURE_LIST, BEDROCK_LIST, GEMINI_LIST, vertexList } from "./clouds.ts";
import { kindByName } from "./kinds.ts";
import { entriesOf, listedModel, type ModelList, nextOf, withQuery } from "./list.ts";
import { OPENAI_LIST, VERSIONED_LIST } from "./openai.ts";

/** https://platform.claude.com/docs/en/api/models/list (at most 1000 a page). */
const ANTHROPIC_LIST: ModelList = {
  questions: [
    {
      path: (page) => withQuery("/v1/models", { limit: "1000", after_id: page }),
      read(body) {
        const entries = entriesOf(body, "data");
        if (entries === null) return null;
        const more = (body as Json)["has_more"] === true;
        return { models: entries.flatMap(claude), next: more ? nextOf(body, "last_id") : null };
      },
    },
  ],
};

function claude(entry: Json): readonly ListedModel[] {
  const { id, display_name: displayName, created_at, created, max_input_tokens, max_tokens } = entry;
  return listedModel({
    id,
    kind: kindByName(String(id)),
    displayName,
    created: created_at ?? created,
    contextWindow: max_input_tokens,
    maxOutput: max_tokens,
  });
}

/** https://docs.cohere.com/reference/list-models (at most 1000 a page). */
const COHERE_LIST: ModelList = {
  questions: [
    {
      path: (page) => withQuery("/v1/models", { page_size: "1000", page_token: page }),
      read(body) {
        const entries = entriesOf(body, "models");
        return entries && { models: entries.flatMap(cohereModel), next: nextOf(body, "next_page_token") };
      },
    },
  ],
};

const COHERE_ENDPOINTS: readonly (readonly [endpoint: string, kind: ListedModel["kind"]])[] = [
  ["chat", "chat"],
  ["embed", "embedding"],
  ["rerank", "rerank"],
];

function cohereModel({ name: id, endpoints, context_length, is_deprecated }: Json): readonly ListedModel[] {
  if (is_deprecated === true) return [];
  const named = Array.isArray(endpoints) && endpoints.length > 0 ? endpoints : null;
  const served = named && COHERE_ENDPOINTS.find(([endpoint]) => named.includes(endpoint))?.[1];
  const kind = named === null ? kindByName(String(id)) : (served ?? "other");
  return listedModel({ id, kind, contextWindow: context_length });
}

/** A bare list of models that speak; those that transcribe are not in it. https://elevenlabs.io/docs/api-reference/models/list */
const ELEVENLABS_LIST: ModelList = {
  questions: [
    {
      path: () => "/v1/models",
      read(body) {
        const entries = Array.isArray(body) ? entriesOf({ models: body as unknown }, "models") : null;
        return entries && { models: entries.flatMap(voiceModel), next: null };
      },
    },
  ],
};

function voiceModel({ model_id: id, name: displayName, can_do_text_to_speech: speaks }: Json): readonly ListedModel[] {
  const byName = kindByName(String(id));
  const silent: ListedModel["kind"] = byName === "transcription" ? byName : "other";
  return listedModel({ id, kind: speaks === false ? silent : "speech", displayName });
}

/** https://developers.deepgram.com/reference/manage/models/list */
const DEEPGRAM_LIST: ModelList = {
  questions: [
    {
      path: () => "/v1/models",
      read(body) {
        const heard = entriesOf(body, "stt");
        const spoken = entriesOf(body, "tts");
        if (heard === null && spoken === null) return null;
        // A model that only streams takes no recording.
        const recorded = (heard ?? []).filter(({ batch }) => batch !== false);
        return {
          models: [
            ...recorded.flatMap((entry) => deepgramModel(entry, "transcription")),
            ...(spoken ?? []).flatMap((entry) => deepgramModel(entry, "speech")),
          ],
          next: null,
        };
      },
    },
  ],
};

function deepgramModel({ canonical_name, name }: Json, kind: ListedModel["kind"]): readonly ListedModel[] {
  return listedModel({ id: canonical_name ?? name, kind });
}

/** The publisher that a base URL of Google's Vertex AI ends with. */
const PUBLISHER = /\/publishers\/([\w-]+)\/?$/;

const LISTS: Readonly<Record<DialectName, ModelList>> = {
  openai: OPENAI_LIST,
  anthropic: ANTHROPIC_LIST,
  gemini: GEMINI_LIST,
  azure: AZURE_LIST,
  bedrock: BEDROCK_LIST,
  cohere: COHERE_LIST,
  jina: VERSIONED_LIST,
  // Not in https://github.com/voyage-ai/openapi: where it is not served the answer is 404, and says so.
  voyage: VERSIONED_LIST,
  elevenlabs: ELEVENLABS_LIST,
  deepgram: DEEPGRAM_LIST,
};

/** An address of Azure at which every name of a model calls the same one. */
const DEPLOYMENT = /\/openai\/deployments\/[^/]+\/?$/;

/** How an upstream is asked for its models; where it cannot be, a text that says why. */
export function modelListOf(dialect: DialectName, { baseUrl }: Pick<Location, "baseUrl">): ModelList | string {
  if (dialect === "azure" && DEPLOYMENT.test(baseUrl)) return "its base_url names one deployment";
  const publisher = PUBLISHER.exec(baseUrl)?.[1];
  if (publisher !== undefined && (dialect === "anthropic" || dialect === "gemini")) return vertexList(publisher);
  return LISTS[dialect];
}
