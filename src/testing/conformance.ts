import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { ConfigurationError } from "../config/diagnostics.ts";
import { definePlugin, type Json, type Plugin } from "../kit/index.ts";
import type { OfflineResult } from "../offline/room.ts";
import { type LoadedPlugin, loadPlugin, openLoaded, type PluginRoom, type PluginTest } from "./room.ts";
import { Watched } from "./watch.ts";

/** One case of the suite; `run` throws an AssertionError that says what is wrong. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

const CHAT = "route/chat";
/** So slow that there is a middle. */
const SLOW = "?chunk_delay=100ms&chunks=50";
const LEAVE_AFTER_MS = 450;

interface Ending {
  /** Settings of the room that it needs. */
  readonly test?: PluginTest;
  /** Ends one request so, and returns what came of it. */
  readonly end: (room: PluginRoom) => Promise<OfflineResult>;
}

const thrower: Plugin = definePlugin({
  name: "thrower",
  stage: "transform",
  schema: new URL("none.schema.json", import.meta.url),
  setup: () => ({
    response: () => {
      throw new TypeError("a plugin behind it throws");
    },
  }),
});

/** Every way in which a request ends. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  served: { end: (room) => room.request({ model: CHAT }) },
  "served as a stream": { end: (room) => room.request({ model: CHAT, stream: true }) },
  "served in another format": { end: (room) => room.request({ model: CHAT, endpoint: "messages", stream: true }) },
  "served by another kind of model": { end: (room) => room.request({ model: "route/embedding" }) },
  "served after a failover": {
    test: { faults: { primary: "?status=500" } },
    end: (room) => room.request({ model: CHAT }),
  },
  "refused for want of credits": {
    end: async (room) => {
      await room.user("poor", { credits: 0n });
      return room.request({ model: CHAT, user: "poor" });
    },
  },
  "refused by the plan": { end: (room) => room.request({ model: "route/max" }) },
  "refused without credentials": { end: (room) => room.request({ model: CHAT, authenticated: false }) },
  "refused by the provider": {
    test: { faults: { primary: "?status=400" } },
    end: (room) => room.request({ model: CHAT }),
  },
  failed: {
    test: { faults: { primary: "down", backup: "?status=503" } },
    end: (room) => room.request({ model: CHAT, stream: true }),
  },
  cut: {
    test: { faults: { primary: "?reset_after=3" } },
    end: (room) => room.request({ model: CHAT, stream: true }),
  },
  "left by the client": {
    test: { faults: { primary: SLOW } },
    end: (room) => room.request({ model: CHAT, stream: true, leaveAfter: LEAVE_AFTER_MS }),
  },
  "left before an answer": {
    test: { faults: { primary: "unreachable" } },
    end: (room) => room.request({ model: CHAT, leaveAfter: LEAVE_AFTER_MS }),
  },
  killed: {
    test: { faults: { primary: SLOW } },
    end: async (room) => {
      const started = await room.start({ model: CHAT, stream: true });
      await room.advance(LEAVE_AFTER_MS);
      await room.fetch("POST", "/v1/user/streams/kill");
      return started.result();
    },
  },
  "thrown behind it": {
    test: { followedBy: [thrower] },
    end: (room) => room.request({ model: CHAT }),
  },
};

/**
 * What every plugin keeps to, whatever it is for; the built-in ones do.
 * @param plugin its file, or the name of a built-in one. @param test its options, and whatever else it needs.
 */
export function conformance(plugin: URL | string, test: PluginTest = {}): readonly ConformanceCase[] {
  // Read once: every case makes a generation of its own of it.
  let loading: Promise<LoadedPlugin> | null = null;
  const open: OpenRoom = async (more = {}) =>
    openLoaded(await (loading ??= loadPlugin(plugin, test)), { ...test, ...more });
  return [
    { name: "stands in a pipeline by itself, with a closed schema", run: () => standsAlone(open) },
    { name: "every hook that it returns is one of its stage", run: () => returnsHooks(plugin, test) },
    { name: "options that the schema does not allow are refused", run: () => refusesOptions(plugin, test) },
    ...Object.entries(ENDINGS).map(([name, ending]) => ({
      name: `a request that is ${name} is settled once, and changes nothing that it was given`,
      run: () => endsWell(open, ending),
    })),
    { name: "keeps no state from one generation to the next", run: () => keepsNoState(open) },
    { name: "a retired generation is disposed of, once, and leaves no timer", run: () => isDisposed(open) },
  ];
}

type OpenRoom = (more?: PluginTest) => Promise<PluginRoom>;

async function standsAlone(open: OpenRoom): Promise<void> {
  await using room = await open();
  const { name, schema } = room.plugin;
  const { type, additionalProperties } = JSON.parse(await readFile(schema, "utf8")) as Json;
  assert.equal(type, "object", `the schema of ${name} is not that of an object`);
  assert.equal(additionalProperties, false, `the schema of ${name} lets misspelt options pass`);
}

/** By the table that `check`, a start and a reload go by. */
async function returnsHooks(plugin: URL | string, test: PluginTest): Promise<void> {
  const error: unknown = await loadPlugin(plugin, test).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigurationError)) return assert.ifError(error);
  const found = error.diagnostics.map(({ message, hint }) => (hint === null ? message : `${message} (${hint})`));
  assert.fail(`the gateway refuses the plugin: ${found.join("; ")}`);
}

async function refusesOptions(plugin: URL | string, test: PluginTest): Promise<void> {
  const options = { ...test.options, "no-such-option": true };
  const error: unknown = await loadPlugin(plugin, { ...test, options }).then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ConfigurationError, "an option that there is not was accepted");
  const found = error.diagnostics.map(({ pointer }) => pointer);
  assert.ok(
    found.some((pointer) => /^\/pipeline\/\d+\/options/.test(pointer)),
    `the place of a wrong option is not told: ${found.join(", ")}`,
  );
}

async function endsWell(open: OpenRoom, { test = {}, end }: Ending): Promise<void> {
  const watched = new Watched();
  const room = await open({ ...test, wrap: watched.plugin });
  let result: OfflineResult;
  try {
    result = await end(room);
    const { id } = await room.user("user");
    const left = await room.store.running(id);
    assert.deepEqual(left, { requests: 0, streams: 0, held: 0n }, "something runs on that has ended");
  } finally {
    await room.close();
  }
  const failures = room.failures.filter((failure) => failure.plugin !== thrower.name);
  assert.deepEqual(
    failures,
    [],
    "the plugin threw what is no GatewayError, perhaps because what it was given is frozen",
  );
  assert.deepEqual(watched.unbalanced, [], "not everything that was begun was ended once");
  assert.ok(result.status > 0 || !result.complete, "the client was not answered");
}

/** What comes of some requests in a new room. */
async function story(open: OpenRoom): Promise<unknown[]> {
  await using room = await open();
  const results: unknown[] = [];
  for (const stream of [false, true, false]) {
    const { status, body, code, outcome, upstream, charge, sent } = await room.request({ model: CHAT, stream });
    results.push({ status, body, code, outcome, upstream, charge, sent: sent.map((entry) => entry.body) });
  }
  return results;
}

async function keepsNoState(open: OpenRoom): Promise<void> {
  const first = await story(open);
  assert.deepEqual(await story(open), first, "a second generation answers otherwise than the first did");
  const watched = new Watched();
  for (let round = 0; round < 2; round += 1) {
    const room = await open({ wrap: watched.plugin });
    await room.close();
  }
  assert.notEqual(watched.hooks[0], watched.hooks[1], "two generations share one object of hooks");
}

async function isDisposed(open: OpenRoom): Promise<void> {
  const watched = new Watched();
  const room = await open({ wrap: watched.plugin });
  try {
    await room.request({ model: CHAT, stream: true });
  } finally {
    await room.close();
  }
  assert.deepEqual(watched.unbalanced, [], "dispose was not called once");
  assert.equal(watched.timers, 0, "timers of host.schedule outlive the generation: cancel them in dispose");
}
