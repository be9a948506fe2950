import { isJson, type Json, type Reference, type ReferenceKind } from "../../kit/index.ts";
import { escaped } from "../canonical/report.ts";
import { addressFault } from "./address.ts";

/*
 * What a request names instead of sending it, found by structure in the client's own body: in whatever format, also below
 * fields that nobody here knows, since they travel to upstreams of the same dialect. Every string counts that begins as an
 * address, wherever it stands, but for texts: what people and models write, arguments of tools, and schemas. Beside those
 * the names of fields tell addresses without a scheme, and ids.
 */

/** What a field holds, by its name. */
type Role =
  /** What people and models write, and labels: it may say anything. */
  | "text"
  /** The same, whatever is below it. */
  | "texts"
  | "address"
  /** An id of something stored at a provider. */
  | "id"
  /** Content inlined, or an address, or an id. */
  | "media"
  /** Nothing that a name tells. */
  | "other";

/** Names as `snakeCase` writes them. */
const TEXT: ReadonlySet<string> = new Set(
  (
    "text content name title description role type model user instructions system output prompt query queries refusal " +
    "thinking reasoning reasoning_content summary signature encrypted_content encrypted_index cited_text context filename " +
    "transcript token stop stop_sequences documents code command commands stdout stderr logs diff definition suffix " +
    "negative_prompt language safety_identifier prompt_cache_key authorization authorization_token message error label " +
    "server_label server_description allowed_domains blocked_domains caption question answer " +
    "enum const default examples pattern $schema $id $ref $anchor"
  ).split(" "),
);

/** Fields of tools and answers. Providers do not follow the references in them. */
const TEXTS: ReadonlySet<string> = new Set(
  (
    "arguments input_schema input_examples output_schema schema json_schema guided_json logprobs logit_bias citations " +
    "annotations headers extra_headers"
  ).split(" "),
);

/*
 * What a provider keeps for the account. Beside the fields of OpenAI's and Anthropic's SDKs (`file_id`, `container_id`,
 * `vector_store_ids`, `skill_id`, `tunnel_id`, `previous_response_id`):
 *
 * - `library_ids` https://docs.mistral.ai/agents/tools/built-in/document_library
 * - `collection_ids` https://docs.x.ai/docs/guides/using-collections
 * - `knowledge_id` https://docs.bigmodel.cn/cn/guide/tools/knowledge/retrieval
 * - `cached_content` https://ai.google.dev/gemini-api/docs/openai
 * - `index_name` and the like https://learn.microsoft.com/azure/ai-services/openai/references/azure-search
 */
const ID = new RegExp(
  "(?:^|_)(?:file|container|(?:vector|memory|search|data)_?store|upload|attachment|asset|blob|media|image|audio|video|" +
    "batch|skill|dataset|knowledge|knowledge_?base|corpus|library|tunnel|cache|cached_?content|collection|folder|bucket|" +
    "artifact|(?:previous|comparison)_(?:response|interaction))_?ids?$",
);
const IDS: ReadonlySet<string> = new Set(
  (
    "container cached_content file_search_store_names datastore data_store data_stores rag_corpus rag_corpora index_name " +
    "container_name database_name collection_name"
  ).split(" "),
);
/**
 * An object under one of these is known by its `id`. Not `audio`: a turn that was spoken is sent back by the id that its
 * client was given for an hour (https://platform.openai.com/docs/guides/audio, multi-turn conversations).
 */
const HOLDER =
  /^(?:file|image|video|container|attachment|vector_store|skill|conversation|collection|batch|cached_content)s?$/;
const ADDRESS = /ur[il]s?$/;
const MEDIA = /(?:^|_)(?:file|image|audio|video|media|mask|attachment|document|frame|picture|photo|(?:file)?data)s?$/;

/** How ids begin that stand where content may stand. */
const STORED = /^(?:file[-_]|files\/|cntr_|container_|vs_|cachedContents\/|fileSearchStores\/|corpora\/)/;
/**
 * A scheme with a slash behind it, a well-known one without, or a host without a scheme. A single letter is a drive. Browsers'
 * parsers skip tabs and line ends anywhere.
 */
const LIKE_AN_ADDRESS =
  /^(?:(?:[a-z][a-z\d+.\t\n\r-]{1,40}:)+[\t\n\r]*[/\\]|(?:https?|file|s3|gs):\S|[/\\]{2}[^/\\\s]*[.:[])/i;
/** The same parsers skip all before it. */
// oxlint-disable-next-line no-control-regex -- these are what is skipped
const BEGINNING = /[^\u0000-\u0020]/;
/** Qwen-Long reads files that a system message names: https://www.alibabacloud.com/help/en/model-studio/long-context-qwen-long. */
const FILE_IN_TEXT = /^\s*fileid:/i;
const READ_TEXTS: ReadonlySet<string> = new Set(["content", "text", "system", "instructions", "input"]);

/** `fileIds`, `file_ids`, `file-ids` and `file_ids[]` of a form are one name. */
function snakeCase(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .replace(/\[\]$/, "")
    .toLowerCase();
}

function roleOf(name: string): Role {
  if (TEXT.has(name)) return "text";
  const short = snakeCase(name);
  if (TEXT.has(short)) return "text";
  if (TEXTS.has(short)) return "texts";
  if (IDS.has(short) || ID.test(short)) return "id";
  if (ADDRESS.test(short)) return "address";
  return MEDIA.test(short) ? "media" : "other";
}

/** All of a text where it begins as an address, else as much as tells that it does not. By default: the text itself. */
type ReadText = (text: string) => string;

function isLikeAnAddress(text: string): boolean {
  const at = text.search(BEGINNING);
  return at >= 0 && LIKE_AN_ADDRESS.test(at === 0 ? text : text.slice(at));
}

/** Shorter ones may be names. */
const MIN_INLINED_CHARACTERS = 64;
/** Looked for instead of matching the whole: a match of megabytes would overflow the matcher's stack. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Whether a text is base64 alone, as Perplexity takes it: https://docs.perplexity.ai/guides/file-attachments. No path is. */
function isInlined(text: string): boolean {
  const end = text.search(NOT_BASE64);
  const isWhole = end < 0 || /^={1,2}$/.test(text.slice(end, end + 3));
  return isWhole && text.length >= MIN_INLINED_CHARACTERS && text.length % 4 === 0 && !/^\/(?!9j\/)/.test(text);
}

/**
 * What a client names in its body, as far as that needs the permission of an operator, in the order of the body.
 * @param read for a body with stand-ins for long texts.
 */
export function referencesIn(body: Json, read: ReadText = itself): readonly Reference[] {
  const finder = new Finder(read);
  finder.look(body);
  return finder.found;
}

function itself(text: string): string {
  return text;
}

/** What is around a value. */
interface Place {
  /** The name of the nearest field; empty in the body itself. */
  readonly name: string;
  readonly role: Role;
  /** Within the definitions of tools, where `parameters` is a schema. */
  readonly inTools: boolean;
}

const BODY: Place = { name: "", role: "other", inTools: false };
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);

class Finder {
  readonly found: Reference[] = [];
  readonly #read: ReadText;
  /** By name: a body has few of them, and many fields. */
  readonly #roles = new Map<string, Role>();
  readonly #path: (string | number)[] = [];

  constructor(read: ReadText) {
    this.#read = read;
  }

  look(value: unknown, place: Place = BODY): void {
    if (typeof value === "string") this.#text(value, place);
    else if (Array.isArray(value)) this.#list(value, place);
    else if (isJson(value)) this.#object(value, place);
    else if (typeof value === "number" && place.role === "id") this.#add(String(value), "stored");
  }

  #list(list: readonly unknown[], place: Place): void {
    for (const [index, item] of list.entries()) {
      if (typeof item === "number" && place.role !== "id") continue;
      this.#path.push(index);
      this.look(item, place);
      this.#path.pop();
    }
  }

  #object(object: Json, place: Place): void {
    for (const name in object) {
      const value = object[name];
      if (value === null || typeof value === "boolean") continue;
      const role = this.#roleIn(object, name, place);
      if (role === "texts") continue;
      this.#path.push(name);
      if (role === "text" && typeof value === "string") this.#written(value, name, object);
      else this.look(value, { name, role, inTools: place.inTools || TOOLS.has(name) });
      this.#path.pop();
    }
  }

  /** The role of a field, by what is around it and then by its name. */
  #roleIn(object: Json, name: string, place: Place): Role {
    const type = typeof object["type"] === "string" ? object["type"] : "";
    switch (name) {
      case "id":
        return isHolder(object, type, place) ? "id" : "text";
      case "uuid":
        // vLLM takes media that it has in its cache by this: https://docs.vllm.ai/en/latest/features/multimodal_inputs/
        return MEDIA_TYPE.test(type) ? "id" : "other";
      case "metadata":
      case "client_metadata":
        return this.#path.length === 0 ? "texts" : "other";
      case "parameters":
        return place.inTools ? "texts" : "other";
      case "input":
        return type.endsWith("tool_use") && this.#path[0] === "messages" ? "texts" : "text";
      case "action":
      case "actions":
      case "operation":
        return type.endsWith("_call") && this.#path[0] === "input" ? "texts" : "other";
      case "data":
        // The text of a document of Anthropic's.
        return place.name === "source" && type === "text" ? "text" : "media";
      case "source":
        return type === "search_result" ? "text" : "other";
      case "skill_id":
        // Skills that the provider itself offers to everybody (SDK @anthropic-ai/sdk, BetaSkillParams.type).
        return type === "anthropic" ? "text" : "id";
    }
    let role = this.#roles.get(name);
    if (role === undefined) this.#roles.set(name, (role = roleOf(name)));
    return role;
  }

  /** A text: ordinary, unless a provider is known to read it as the name of a file. */
  #written(text: string, name: string, { role }: Json): void {
    if (!READ_TEXTS.has(name)) return;
    const value = this.#read(text);
    // https://platform.moonshot.cn/docs/api/caching
    if (FILE_IN_TEXT.test(value) || (role === "cache" && name === "content")) this.#add(value, "stored");
  }

  #text(text: string, { name, role }: Place): void {
    if (text === "") return;
    if (role === "text") return this.#written(text, name, {});
    const value = this.#read(text);
    if (role === "id") return this.#add(value, "stored");
    if (role !== "other" && STORED.test(value)) return this.#add(value, "stored");
    const isAddress = isLikeAnAddress(value) || (role === "address" && !isInlined(value));
    const fault = isAddress ? addressFault(value) : null;
    if (fault !== null) this.#add(value, fault);
  }

  #add(value: string, kind: ReferenceKind): void {
    this.found.push({ at: this.#path.map((step) => `/${escaped(String(step))}`).join(""), value, kind });
  }
}

const MEDIA_TYPE = /image|audio|video|file/;

/** Whether the `id` of an object names something stored, and is no mere name of the object itself. */
function isHolder(object: Json, type: string, { name }: Place): boolean {
  // An image that an answer made before: its bytes are in `result`, without them the provider looks it up.
  if (type === "image_generation_call") return typeof object["result"] !== "string";
  return HOLDER.test(snakeCase(name)) || type === "item_reference";
}
