/** The base URL, in OpenAI's style, at which every request meets `script`: a query such as `?first_byte=300ms`, or `-`. */
export function scriptedUrl(origin: string, script: string): string {
  return `${origin}/sim/${encodeURIComponent(script.replace(/^\?/, "") || "-")}/v1`;
}
