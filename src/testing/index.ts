export * from "../kit/index.ts";
export { conformance, type ConformanceCase } from "./conformance.ts";
export { openPlugin, type PluginRoom, type PluginTest } from "./room.ts";
export type { OfflineRequest, OfflineResult } from "../offline/room.ts";
