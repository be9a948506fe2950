import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type HttpExchange, respond } from "./respond.ts";

/** What `npm run build:ui` makes of `src/ui`; the compiled sources lie beside it. */
export const PAGES_FOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/ui" : "../../ui", import.meta.url),
);

/** The files of all pages by their names below the folder, such as `assets/status-Bx3.js`; null: they are not built. */
export type PageFiles = ReadonlyMap<string, PageFile> | null;

interface PageFile {
  readonly contentType: string;
  /** Of the bytes as they are; an encoding has one of its own. */
  readonly etag: string;
  readonly bytes: Uint8Array;
  /** As the build has compressed it, the smallest first. */
  readonly encoded: readonly { readonly encoding: string; readonly bytes: Uint8Array }[];
}

/** Answers a request whose path is one of its files. @returns its pattern for metrics; null: it has not answered. */
export type AnswerPage = (http: HttpExchange, path: string) => string | null;

/** The pages of a listener: the HTML file of each path. */
const DASHBOARD_PAGES: ReadonlyMap<string, string> = new Map([
  ["/", "dashboard.html"],
  ["/status", "status.html"],
]);
const CONSOLE_PAGES: ReadonlyMap<string, string> = new Map([
  ["/", "console.html"],
  ["/console", "console.html"],
]);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
/** Endings of what the build compresses, by the name of the encoding; the smallest first. */
const ENCODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** What the log says once where there are none. */
export const NOT_BUILT = "the pages are not built: run npm run build:ui";

/** Every file, into memory: a request is answered from a map and never reaches the file system. */
export function readPages(folder: string): PageFiles {
  const names = namesBelow(folder);
  if (names.length === 0) return null;
  const present = new Set(names);
  const read = (name: string): Uint8Array => readFileSync(join(folder, name));
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) continue;
    const bytes = read(name);
    const encoded = ENCODINGS.filter(([, ending]) => present.has(name + ending)).map(([encoding, ending]) => ({
      encoding,
      bytes: read(name + ending),
    }));
    files.set(name, { contentType, etag: hash("sha256", bytes, "base64url").slice(0, 22), bytes, encoded });
  }
  return files;
}

/** With slashes between folders; none for a folder that is not there. */
function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join("/"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Nothing is loaded from elsewhere, and text that becomes markup by mistake is an error in place of a script. */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
].join("; ");
const SECURITY: Readonly<Record<string, string>> = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
/** Of the files that pages load: the name of one changes with what is in it. */
const ASSETS_PATH = "/assets/";
const FOR_EVER = "public, max-age=31536000, immutable";

/** A page in a few words, for browsers. */
interface Notice {
  readonly status: number;
  readonly title: string;
  /** As HTML. */
  readonly text: string;
}

const NOT_BUILT_NOTICE: Notice = {
  status: 503,
  title: "The pages are not built",
  text: "Run <code>npm run build:ui</code> in the gateway's folder and start it again. Everything but the pages is served.",
};
const NO_TOKEN_NOTICE: Notice = {
  status: 404,
  title: "The console is closed",
  text: "It opens with a token: set <code>server.admin.token</code> or <code>server.admin.tokens</code> and start again.",
};

export function createDashboardPages(files: PageFiles): AnswerPage {
  return createPages(files, DASHBOARD_PAGES, () => null);
}

/** @param isOn whether there is a token that somebody could sign in with. */
export function createConsolePages(files: PageFiles, isOn: () => boolean): AnswerPage {
  return createPages(files, CONSOLE_PAGES, () => (isOn() ? null : NO_TOKEN_NOTICE));
}

/**
 * @param pages the paths that are pages; what these load is below `/assets/`.
 * @param closed what a browser is told in place of any of them.
 */
function createPages(files: PageFiles, pages: ReadonlyMap<string, string>, closed: () => Notice | null): AnswerPage {
  return (http, path) => {
    const { req } = http;
    if (req.method !== "GET" && req.method !== "HEAD") return null;
    const page = pages.get(path);
    if (page !== undefined) {
      // A program that asks for an address without a page of its own is told so as it is told everywhere else.
      if (!takes(req.headers.accept, "text/html")) return null;
      const notice = closed();
      const file = files?.get(page);
      if (notice !== null) sendNotice(http, notice);
      else if (file === undefined) sendNotice(http, NOT_BUILT_NOTICE);
      else sendFile(http, file, { "Cache-Control": "no-cache" }, "Accept, Accept-Encoding");
      return path;
    }
    const file = path.startsWith(ASSETS_PATH) ? files?.get(path.slice(1)) : undefined;
    if (file === undefined) return null;
    sendFile(http, file, { "Cache-Control": FOR_EVER }, "Accept-Encoding");
    return `${ASSETS_PATH}**`;
  };
}

function sendFile(
  http: HttpExchange,
  { contentType, etag, bytes, encoded }: PageFile,
  headers: Readonly<Record<string, string>>,
  vary: string,
): void {
  const { "accept-encoding": encodings, "if-none-match": known } = http.req.headers;
  const chosen = encoded.find(({ encoding }) => takes(encodings, encoding));
  const tag = `"${etag}${chosen === undefined ? "" : `-${chosen.encoding}`}"`;
  const head = { ...SECURITY, ...headers, Vary: vary, ETag: tag };
  if (known !== undefined && matches(known, tag)) return respond(http, 304, "", head, "");
  const encoding = chosen === undefined ? undefined : { "Content-Encoding": chosen.encoding };
  respond(http, 200, contentType, { ...head, ...encoding }, chosen?.bytes ?? bytes);
}

function sendNotice(http: HttpExchange, { status, title, text }: Notice): void {
  const page = `<!doctype html>\n<html lang="en">\n<title>${title}</title>\n<h1>${title}</h1>\n<p>${text}</p>\n</html>\n`;
  respond(http, status, CONTENT_TYPES[".html"]!, { ...SECURITY, "Cache-Control": "no-store" }, page);
}

/** Whether a list such as `text/html, image/*;q=0.8` names it and does not refuse it. */
function takes(header: string | undefined, name: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((entry) => {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return range === name && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** Whether what the client has is what it would be sent. */
function matches(header: string, tag: string): boolean {
  return header.split(",").some((entry) => {
    const known = entry.trim().replace(/^W\//, "");
    return known === tag || known === "*";
  });
}
