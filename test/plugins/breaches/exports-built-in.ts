// a built-in plugin, exported by a file
export { default } from "../../../plugins/quota.ts";
// check: plugin-contract: the file uses defineBuiltin, which only the gateway's own plugins may use (use definePlugin, or name a built-in plugin without a path)
