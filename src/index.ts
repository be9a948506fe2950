/**
 * The public API: the contract of plugins, and a gateway to check and to start from a program of one's own. Everything
 * else in `src` may change without notice.
 */
export * from "./kit/index.ts";
export { ConfigurationError, type Diagnostic } from "./config/diagnostics.ts";
export type { LoadResult } from "./config/load.ts";
export { checkConfig } from "./gateway/configuration.ts";
export type { ReloadResult } from "./gateway/generation.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway/start.ts";
