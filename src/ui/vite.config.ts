import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const entry = (name: string): string => fileURLToPath(new URL(`${name}.html`, import.meta.url));

/** Where `npm run dev:ui` finds the public and the admin listener. */
const PUBLIC_URL = process.env["GATEWAY_URL"] ?? "http://127.0.0.1:8080";
const ADMIN_URL = process.env["GATEWAY_ADMIN_URL"] ?? "http://127.0.0.1:9090";

export default defineConfig({
  root: ROOT,
  base: "/",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../../dist/ui", import.meta.url)),
    emptyOutDir: true,
    manifest: "manifest.json",
    target: ["chrome125", "firefox128", "safari17.5"],
    // A `data:` URL in a style sheet is not 'self', and the policy of the pages would refuse it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: [entry("dashboard"), entry("console"), entry("status")] },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/v1": PUBLIC_URL,
      "/auth": PUBLIC_URL,
      "/openapi.json": PUBLIC_URL,
      "/admin": ADMIN_URL,
    },
  },
});
