export * from "./errors.ts";
export * from "./exchange.ts";
export * from "./host.ts";
export * from "./money.ts";
export * from "./plugin.ts";
export * from "./secret.ts";
export * from "./snapshot.ts";
export * from "./store.ts";
