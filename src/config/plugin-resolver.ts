import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const INSTALLED = Symbol.for("route-gateway.plugin-resolver");
const VERSION = "gateway-plugin";
const ORIGIN = "origin";

/**
 * The URL to import a local plugin by. A new `version` is a new module to Node, so a changed file is loaded anew;
 * `origin` is where packages are looked for when the source is a saved copy.
 */
export function pluginUrl(source: string, version: string, origin: string): string {
  const url = pathToFileURL(source);
  url.searchParams.set(VERSION, version);
  url.searchParams.set(ORIGIN, pathToFileURL(origin).href);
  return url.href;
}

/**
 * Lets plugin files outside any package import `#kit` and `#schema`, and carries a plugin's version over to the files
 * it imports by relative path. Process-wide and installed once, however often it is called.
 */
export function installPluginResolver(): void {
  if (Object.hasOwn(globalThis, INSTALLED)) return;
  Object.defineProperty(globalThis, INSTALLED, { value: true });
  registerHooks({
    resolve(specifier, context, next) {
      const parent = context.parentURL?.includes(`${VERSION}=`) ? new URL(context.parentURL) : null;
      if (!parent) return next(specifier, context);
      // The gateway's own package answers, wherever the plugin lies.
      if (specifier === "#kit" || specifier === "#schema")
        return next(specifier, { ...context, parentURL: import.meta.url });
      if (!/^\.{1,2}\//.test(specifier)) {
        return next(specifier, { ...context, parentURL: parent.searchParams.get(ORIGIN) ?? parent.href });
      }
      const found = next(specifier, context);
      const url = new URL(found.url);
      url.search = parent.search;
      return { ...found, url: url.href };
    },
  });
}
