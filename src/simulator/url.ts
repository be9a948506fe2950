/** The address at which every request meets `script`: a query such as `?first_byte=300ms`, or `-`. */
export function scriptedOrigin(origin: string, script: string): string {
  return `${origin}/sim/${encodeURIComponent(script.replace(/^\?/, "") || "-")}`;
}

/** The same as a base URL in OpenAI's style. */
export function scriptedUrl(origin: string, script: string): string {
  return `${scriptedOrigin(origin, script)}/v1`;
}
