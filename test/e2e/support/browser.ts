import { expectConforming } from "./conforming.ts";
import { type Answer, send } from "./http.ts";

const MAXIMUM_REDIRECTS = 10;

/** Where the requests to an origin really go, and what a proxy there adds to them. */
export interface Route {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Page extends Answer {
  /** Where it came from. */
  readonly url: URL;
}

interface Cookie {
  readonly value: string;
  readonly secure: boolean;
}

/** As much of a browser as a sign-in meets: it keeps cookies by their rules and follows redirects. */
export class Browser {
  /** Every page, redirects included, oldest first. */
  readonly pages: Page[] = [];
  /** By host name: ports share their cookies. */
  readonly #jars = new Map<string, Map<string, Cookie>>();
  readonly #routes: ReadonlyMap<string, Route>;

  /** @param routes by origin; all others are reached as they are. */
  constructor(routes: Readonly<Record<string, Route>> = {}) {
    this.#routes = new Map(Object.entries(routes));
  }

  /** Opens a page, through all redirects unless `follow` says where to stop. */
  async open(
    url: string | URL,
    headers: Readonly<Record<string, string>> = {},
    follow: (to: URL) => boolean = () => true,
  ): Promise<Page> {
    let page = await this.request("GET", url, headers);
    for (let count = 0; page.headers.location !== undefined && count < MAXIMUM_REDIRECTS; count += 1) {
      const to = new URL(page.headers.location, page.url);
      if (!follow(to)) return page;
      page = await this.request("GET", to, headers);
    }
    return page;
  }

  /** One request with the cookies that belong to it, as a script of a page sends it. */
  async request(method: string, to: string | URL, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    const url = new URL(to);
    const route = this.#routes.get(url.origin) ?? { url: url.origin, headers: {} };
    const cookie = this.#cookiesFor(url);
    const sent = { ...headers, ...route.headers, ...(cookie === "" ? {} : { cookie }) };
    const answer = await send(route.url + url.pathname + url.search, { method, headers: sent });
    for (const line of answer.headers["set-cookie"] ?? []) this.#keep(url, line);
    // What a provider answers is its own affair.
    if (url.pathname.startsWith("/auth/")) expectConforming(method, url.pathname, answer);
    const page = { ...answer, url };
    this.pages.push(page);
    return page;
  }

  /** The cookies of a host, by name. */
  cookies(url: string | URL): Record<string, string> {
    const jar = this.#jars.get(new URL(url).hostname) ?? new Map<string, Cookie>();
    return Object.fromEntries([...jar].map(([name, { value }]) => [name, value]));
  }

  setCookie(url: string | URL, name: string, value: string): void {
    this.#jarOf(new URL(url)).set(name, { value, secure: false });
  }

  #jarOf({ hostname }: URL): Map<string, Cookie> {
    const jar = this.#jars.get(hostname) ?? new Map<string, Cookie>();
    this.#jars.set(hostname, jar);
    return jar;
  }

  #cookiesFor(url: URL): string {
    return [...this.#jarOf(url)]
      .filter(([, { secure }]) => !secure || url.protocol === "https:")
      .map(([name, { value }]) => `${name}=${value}`)
      .join("; ");
  }

  /** What a browser would refuse is dropped: the next page then does without it. */
  #keep(url: URL, line: string): void {
    const { name, value, attributes } = parseCookie(line);
    const secure = attributes.has("secure");
    if (secure && url.protocol !== "https:") return;
    const bound = secure && attributes.get("path") === "/" && !attributes.has("domain");
    if (name.startsWith("__Host-") && !bound) return;
    const jar = this.#jarOf(url);
    if (Number(attributes.get("max-age") ?? 1) > 0) jar.set(name, { value, secure });
    else jar.delete(name);
  }
}

export interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** By lower-case name; a flag's value is empty. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** A `Set-Cookie` line. */
export function parseCookie(line: string): SetCookie {
  const [pair = "", ...rest] = line.split(";").map((part) => part.trim());
  const [name, value] = split(pair);
  const attributes = new Map(rest.map((part) => split(part)).map(([key, content]) => [key.toLowerCase(), content]));
  return { name, value, attributes };
}

function split(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** What an answer says of its cookies, values aside: `name: Attribute=…; …`, attributes in the order of the alphabet. */
export function cookiesSet({ headers }: Answer): readonly string[] {
  return (headers["set-cookie"] ?? []).map((line) => {
    const { name, attributes } = parseCookie(line);
    const written = [...attributes].map(([key, value]) => (value === "" ? key : `${key}=${value}`));
    return `${name}: ${written.toSorted().join("; ")}`;
  });
}
