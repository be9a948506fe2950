import { isJson, type Json } from "../../kit/index.ts";

/** What an image stands for in the hold: about a thousand tokens, whatever its encoded size. */
const MEDIA_BYTES = 4000;

/**
 * Fields where canonical parts and a client's own blocks have files inlined, each with the fields that the object around
 * it stands in. By field and never by what a text looks like: prose that begins like a `data:` URL would be free.
 */
const MEDIA: Readonly<Record<string, ReadonlySet<string> | "anywhere">> = {
  url: new Set(["image_url"]),
  image_url: "anywhere",
  file_data: "anywhere",
  data: new Set(["input_audio", "source"]),
};

function isMedium(field: string, around: string): boolean {
  const places = Object.hasOwn(MEDIA, field) ? MEDIA[field] : undefined;
  return places !== undefined && (places === "anywhere" || places.has(around));
}

/** UTF-8 bytes of what a canonical body gives the model to read; an inlined file counts as one medium. */
export function promptBytes(body: Json): number {
  let bytes = 0;
  eachPromptText(body, (text, isMedium) => {
    bytes += isMedium ? MEDIA_BYTES : Buffer.byteLength(text);
  });
  return bytes;
}

/** The same as text, without inlined files. */
export function promptText(body: Json): string {
  const texts: string[] = [];
  eachPromptText(body, (text, isMedium) => {
    if (!isMedium) texts.push(text);
  });
  return texts.join("\n");
}

function eachPromptText({ messages, tools, response_format }: Json, visit: Visit): void {
  eachText(messages, false, visit);
  // The names in a schema are read by the model as what they describe is.
  eachText(tools, true, visit);
  eachText(response_format, true, visit);
}

type Visit = (text: string, isMedium: boolean) => void;

/** @param keys whether those of objects are text as well. */
function eachText(value: unknown, keys: boolean, visit: Visit): void {
  if (value === undefined || value === null) return;
  // Stacks of our own: a body nested deeper than the call stack must not throw here.
  const open: unknown[] = [value];
  const fields: string[] = [""];
  const around: string[] = [""];
  while (open.length > 0) {
    const item = open.pop();
    const field = fields.pop()!;
    const owner = around.pop()!;
    if (typeof item === "string") visit(item, isMedium(field, owner));
    else if (Array.isArray(item)) {
      for (const inner of item) {
        open.push(inner);
        fields.push("");
        around.push("");
      }
    } else if (isJson(item)) {
      for (const [key, inner] of Object.entries(item)) {
        if (keys) visit(key, false);
        open.push(inner);
        fields.push(key);
        around.push(field);
      }
    }
  }
}
