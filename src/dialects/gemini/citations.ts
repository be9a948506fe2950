import { isJson, type Json } from "../../kit/index.ts";

/** A candidate's sources as OpenAI's annotations of its text, each place once. */
export function annotationsOf(candidate: Json, content: string): readonly Json[] {
  const bytes = Buffer.from(content);
  const all = [...grounding(candidate["groundingMetadata"], bytes), ...citations(candidate["citationMetadata"], bytes)];
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

/** What Google's search found: pages, and which stretches of the text they support. */
function grounding(metadata: unknown, content: Buffer): Json[] {
  if (!isJson(metadata)) return [];
  const pages = list(metadata["groundingChunks"]).map((chunk) =>
    isJson(chunk) && isJson(chunk["web"]) ? chunk["web"] : {},
  );
  const supported = list(metadata["groundingSupports"]).flatMap((support) => {
    if (!isJson(support)) return [];
    const segment = isJson(support["segment"]) ? support["segment"] : {};
    return list(support["groundingChunkIndices"]).flatMap((index) =>
      annotation(pages[Number(index)], segment, content),
    );
  });
  return supported.length > 0 ? supported : pages.flatMap((page) => annotation(page, {}, content));
}

/** What the answer quotes. */
function citations(metadata: unknown, content: Buffer): Json[] {
  if (!isJson(metadata)) return [];
  const sources = list(metadata["citationSources"] ?? metadata["citations"]);
  return sources.flatMap((source) => (isJson(source) ? annotation(source, source, content) : []));
}

function annotation(page: Json | undefined, { startIndex, endIndex }: Json, content: Buffer): Json[] {
  const url = page?.["uri"];
  if (typeof url !== "string" || url === "") return [];
  const title = typeof page?.["title"] === "string" ? page["title"] : url;
  const [start_index, end_index] = [characters(startIndex, content), characters(endIndex, content)];
  return [{ type: "url_citation", url_citation: { url, title, start_index, end_index } }];
}

/** Gemini counts bytes of UTF-8. */
function characters(bytes: unknown, content: Buffer): number {
  return typeof bytes === "number" && bytes > 0 ? content.subarray(0, bytes).toString().length : 0;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
