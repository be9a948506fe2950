/** Percent-encoded: it travels in a cookie. */
const MAXIMUM_LENGTH = 1024;
/** Stands for whatever host the answer comes from. */
const HERE = "http://here.invalid";
/** Browsers drop control characters and read `\` as `/`: a path would turn into another host. */
const UNSAFE = /[\p{Cc}\\]/u;
/** Nor may a proxy that decodes what begins a path make a second slash of it. */
const ANOTHER_HOST = /^\/(?:\/|%2f|%5c)/i;

/** Where to go after signing in: a path on this host with its query and fragment, percent-encoded; `/` for anything else. */
export function safeRedirect(value: unknown): string {
  if (typeof value !== "string" || value.length > MAXIMUM_LENGTH) return "/";
  if (!value.startsWith("/") || UNSAFE.test(value) || !URL.canParse(value, HERE)) return "/";
  const url = new URL(value, HERE);
  // Looked at as a browser resolves it: `/..//host` begins with two slashes only then.
  const path = url.pathname + url.search + url.hash;
  const bad = url.origin !== HERE || ANOTHER_HOST.test(path) || path.length > MAXIMUM_LENGTH;
  return bad ? "/" : path;
}
