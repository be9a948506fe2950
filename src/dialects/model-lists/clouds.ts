import { isJson, type Json, type ListedModel } from "../../kit/index.ts";
import { kindByName } from "./kinds.ts";
import { entriesOf, listedModel, type ListPage, type ListQuestion, type ModelList, nextOf, withQuery } from "./list.ts";

/** `GET /v1beta/models`: https://ai.google.dev/api/models#method:-models.list (at most 1000 a page). */
export const GEMINI_LIST: ModelList = {
  questions: [
    {
      path: (page) => withQuery("/v1beta/models", { pageSize: "1000", pageToken: page }),
      read: (body) => readModels(body, "models", modelOf),
    },
  ],
};

/** By the method that the gateway would call; `bidiGenerateContent` alone is a live session. */
const METHODS: readonly (readonly [method: string, kind: ListedModel["kind"]])[] = [
  ["generateContent", "chat"],
  ["embedContent", "embedding"],
];

function modelOf(entry: Json): readonly ListedModel[] {
  const { name, displayName, inputTokenLimit, outputTokenLimit, supportedGenerationMethods: methods } = entry;
  const id = typeof name === "string" ? name.replace(/^models\//, "") : name;
  const byName = kindByName(String(id));
  const called = Array.isArray(methods) ? METHODS.find(([method]) => methods.includes(method))?.[1] : byName;
  // Models that speak or draw are called as those that chat, and answer no chat.
  const kind = called === "chat" ? byName : (called ?? "other");
  return listedModel({ id, kind, displayName, contextWindow: inputTokenLimit, maxOutput: outputTokenLimit });
}

/** A base URL of Vertex AI, from its version on. */
const VERTEX_PATH = /\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/[^/]+$/;

/**
 * `GET /v1beta1/publishers/PUBLISHER/models` on the same host, whatever project and location the base URL names:
 * https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list
 */
export function vertexList(publisher: string): ModelList {
  const path = `/v1beta1/publishers/${publisher}/models`;
  return {
    questions: [
      {
        beside: VERTEX_PATH,
        path: (page) => withQuery(path, { pageSize: "300", pageToken: page }),
        read: (body) => readModels(body, "publisherModels", (entry) => publishedOf(entry, publisher)),
      },
    ],
  };
}

/** Google's own models in the Model Garden that the Gemini format serves. */
const SERVED_OF_GOOGLE = /^gemini-|embedding/;

/** `name` is `publishers/anthropic/models/claude-…`; a dated version is called `NAME@VERSION`. */
function publishedOf({ name, versionId, launchStage }: Json, publisher: string): readonly ListedModel[] {
  const id = typeof name === "string" ? name.split("/").at(-1)! : undefined;
  if (id === undefined || launchStage === "PRIVATE_PREVIEW") return [];
  const dated = typeof versionId === "string" && /^\d{8}$/.test(versionId) ? `${id}@${versionId}` : id;
  const served = publisher !== "google" || SERVED_OF_GOOGLE.test(id);
  return listedModel({ id: dated, kind: served ? kindByName(id) : "other" });
}

function readModels(body: unknown, field: string, model: (entry: Json) => readonly ListedModel[]): ListPage | null {
  // Google leaves out what is empty.
  const empty =
    isJson(body) && body[field] === undefined && Object.keys(body).every((name) => name === "nextPageToken");
  const entries = empty ? [] : entriesOf(body, field);
  return entries && { models: entries.flatMap(model), next: nextOf(body, "nextPageToken") };
}

/*
 * Amazon Bedrock: what can be called is a foundation model that takes requests on demand, or an inference profile of AWS's
 * own. The control plane is a host beside that of the runtime.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListInferenceProfiles.html
 * https://docs.aws.amazon.com/general/latest/gr/bedrock.html (hosts)
 */
function controlPlane(host: string): string {
  return host.replace(/^bedrock-runtime(?=[.-])/, "bedrock");
}

const FOUNDATION_MODELS: ListQuestion = {
  host: controlPlane,
  path: () => "/foundation-models",
  read(body) {
    const entries = entriesOf(body, "modelSummaries");
    return entries && { models: entries.flatMap(foundationModel), next: null };
  },
};

function foundationModel(entry: Json): readonly ListedModel[] {
  const { modelId: id, modelName, providerName, inferenceTypesSupported: types, outputModalities: outputs } = entry;
  if (Array.isArray(types) && !types.includes("ON_DEMAND")) return [];
  return listedModel({ id, kind: bedrockKind(String(id), outputs), displayName: modelName, ownedBy: providerName });
}

/** `outputModalities` are TEXT, IMAGE, EMBEDDING, and others that Converse does not have. */
function bedrockKind(id: string, outputs: unknown): ListedModel["kind"] {
  const byName = kindByName(id);
  if (!Array.isArray(outputs) || outputs.includes("TEXT")) return byName;
  if (outputs.includes("EMBEDDING")) return "embedding";
  return outputs.includes("IMAGE") ? "image" : "other";
}

const INFERENCE_PROFILES: ListQuestion = {
  host: controlPlane,
  path: (page) => withQuery("/inference-profiles", { maxResults: "1000", type: "SYSTEM_DEFINED", nextToken: page }),
  read(body): ListPage | null {
    const entries = entriesOf(body, "inferenceProfileSummaries");
    return entries && { models: entries.flatMap(inferenceProfile), next: nextOf(body, "nextToken") };
  },
};

function inferenceProfile({ inferenceProfileId: id, inferenceProfileName: displayName, status }: Json) {
  if (status !== undefined && status !== "ACTIVE") return [];
  return listedModel({ id, kind: kindByName(String(id)), displayName });
}

export const BEDROCK_LIST: ModelList = { questions: [FOUNDATION_MODELS, INFERENCE_PROFILES] };

/**
 * Azure OpenAI: what can be called is a deployment. `/openai/models` lists what could be deployed, so it is not asked. The
 * list of deployments is in no newer version of the data plane than this preview, which still answers:
 * https://learn.microsoft.com/en-us/answers/questions/1371786/get-azure-openai-deployments-in-api
 */
export const AZURE_LIST: ModelList = {
  questions: [
    {
      beside: /\/openai(?:\/v1)?$/,
      path: () => "/openai/deployments?api-version=2023-03-15-preview",
      read(body) {
        const entries = entriesOf(body, "data");
        return entries && { models: entries.flatMap(deployment), next: null };
      },
    },
  ],
};

/** `id` is the deployment, `model` what it runs: a deployment's name may say nothing. */
function deployment({ id, model, status, created_at: created }: Json): readonly ListedModel[] {
  if (status !== undefined && status !== "succeeded") return [];
  return listedModel({ id, kind: kindByName(String(model ?? id)), displayName: model, created });
}
