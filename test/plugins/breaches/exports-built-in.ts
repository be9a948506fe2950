// a built-in plugin, exported by a file
export { default } from "../../../plugins/quota.ts";
// check: plugin-contract: the file exports what only the gateway's own plugins may be made by: defineBuiltin (use definePlugin, or name a built-in plugin without a path)
