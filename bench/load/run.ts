/**
 * What the gateway costs beside the least that a Node proxy costs, and beside other proxies: method and rows are in
 * bench/README.md.
 *
 * `node bench/load/run.ts [--rows 1,2,5 | --rows all] [--rounds 1] [--seconds 2] [--log-level info] [--peers] [--floor] [--json]`
 */
import { orEnd, readOptions } from "./options.ts";
import { installPeers } from "./peers.ts";
import { printTable } from "./print.ts";
import { measureTable } from "./table.ts";
import { FULL } from "./sizes.ts";

const { json, ...options } = orEnd(() => readOptions(process.argv.slice(2)));
if (options.peers) await installPeers();
printTable(await measureTable({ ...options, sizes: FULL }), options, json);
