import accounts from "../../../schemas/api/accounts.schema.json" with { type: "json" };
import chat from "../../../schemas/api/chat.schema.json" with { type: "json" };
import countTokens from "../../../schemas/api/count-tokens.schema.json" with { type: "json" };
import embeddings from "../../../schemas/api/embeddings.schema.json" with { type: "json" };
import image from "../../../schemas/api/image.schema.json" with { type: "json" };
import messages from "../../../schemas/api/messages.schema.json" with { type: "json" };
import rerank from "../../../schemas/api/rerank.schema.json" with { type: "json" };
import responsesCreate from "../../../schemas/api/responses-create.schema.json" with { type: "json" };
import responses from "../../../schemas/api/responses.schema.json" with { type: "json" };
import speech from "../../../schemas/api/speech.schema.json" with { type: "json" };
import transcription from "../../../schemas/api/transcription.schema.json" with { type: "json" };
import { isJson, type Json } from "../../kit/index.ts";
import { schemaRef } from "../endpoint.ts";

const FILES: readonly Json[] = [
  chat,
  messages,
  countTokens,
  responsesCreate,
  embeddings,
  rerank,
  speech,
  transcription,
  image,
  accounts,
  responses,
];

/** The schemas of the API as components by their titles. They are written in draft-07 that 2020-12 reads alike. */
export function componentSchemas(): Readonly<Record<string, Json>> {
  const components = new Map<string, Json>();
  for (const file of FILES) {
    const { $schema: _dialect, $id: _id, definitions, ...root } = file;
    const inner = Object.entries(isJson(definitions) ? definitions : {});
    const titles = new Map(inner.map(([name, schema]) => [`#/definitions/${name}`, titleOf(schema)]));
    // A file without a type of its own only holds definitions.
    const schemas = inner.map(([, schema]) => schema);
    for (const schema of root["type"] === undefined ? schemas : [root, ...schemas]) {
      const title = titleOf(schema);
      if (components.has(title)) throw new Error(`two schemas are titled ${title}`);
      components.set(title, relinked(schema, titles) as Json);
    }
  }
  return Object.fromEntries(components);
}

/** The schema with references to components in place of those within its file. */
function relinked(schema: unknown, titles: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => relinked(item, titles));
  if (!isJson(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key !== "$ref") return [key, relinked(value, titles)];
    const title = titles.get(String(value));
    if (title === undefined) throw new Error(`no definition has the reference ${String(value)}`);
    return [key, schemaRef(title)["$ref"]];
  });
  return Object.fromEntries(entries);
}

function titleOf(schema: unknown): string {
  const title = isJson(schema) ? schema["title"] : undefined;
  if (typeof title !== "string") throw new Error("a schema of the API has no title");
  return title;
}
