import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Json } from "../../../../src/kit/index.ts";
import { sharedFixtures } from "../../../support/shared.ts";

const folder = sharedFixtures("openai-openapi");

/** Whether OpenAI's own description of the API is there. */
export const described = folder !== null;

/** What is wrong with a value by OpenAI's description of it; empty when nothing is. */
export type Check = (schema: string, value: unknown) => readonly string[];

/** Compiles each schema when it is first asked for. Where the description is missing, everything is right. */
export function contract(): Check {
  if (folder === null) return () => [];
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, logger: false });
  const document = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8")) as Json;
  ajv.addSchema({ $id: "openapi", components: document["components"] });
  return (schema, value) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${schema}`);
    if (validate === undefined) throw new Error(`no schema ${schema}`);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

/** The schema of an event by its type, where it is not the type in capitals. */
const NAMES: Readonly<Record<string, string>> = {
  error: "ResponseErrorEvent",
  "response.output_text.delta": "ResponseTextDeltaEvent",
  "response.output_text.done": "ResponseTextDoneEvent",
  "response.image_generation_call.in_progress": "ResponseImageGenCallInProgressEvent",
  "response.image_generation_call.completed": "ResponseImageGenCallCompletedEvent",
};

/** The name of an event's own schema: `response.output_item.done` is a ResponseOutputItemDoneEvent. */
export function schemaOf(type: string): string {
  const words = type.split(/[._]/).map((word) => word[0]!.toUpperCase() + word.slice(1));
  return NAMES[type] ?? `${words.join("")}Event`;
}
