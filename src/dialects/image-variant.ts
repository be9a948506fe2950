import type { Units } from "../kit/index.ts";

/** What an image is priced by, of a size and a quality as requests and answers have them; `auto` says nothing. */
export function imageVariant(size: unknown, quality: unknown): Pick<Units, "imageVariant"> {
  const variant = [size, quality].map((word) =>
    typeof word === "string" && word !== "auto" ? word.toLowerCase() : "",
  );
  return variant.every((word) => word === "") ? {} : { imageVariant: variant.join("/") };
}
