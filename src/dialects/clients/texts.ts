/** What an image stands for in the hold: about a thousand tokens, whatever its encoded size. */
const MEDIA_BYTES = 4000;
const MEDIA = /^data:[^,]{0,200};base64,/;

/** UTF-8 bytes of all strings below `value`; an inlined file counts as one medium, not as its base64 text. */
export function textBytes(value: unknown): number {
  let bytes = 0;
  eachText(value, (text) => {
    bytes += MEDIA.test(text) ? MEDIA_BYTES : Buffer.byteLength(text);
  });
  return bytes;
}

/** All strings below `value`, without inlined files. */
export function textsOf(value: unknown): readonly string[] {
  const texts: string[] = [];
  eachText(value, (text) => {
    if (!MEDIA.test(text)) texts.push(text);
  });
  return texts;
}

function eachText(value: unknown, visit: (text: string) => void): void {
  // A stack of our own: a body nested deeper than the call stack must not throw here.
  const open = [value];
  while (open.length > 0) {
    const item = open.pop();
    if (typeof item === "string") visit(item);
    else if (typeof item === "object" && item !== null) {
      for (const inner of Array.isArray(item) ? item : Object.values(item)) open.push(inner);
    }
  }
}
