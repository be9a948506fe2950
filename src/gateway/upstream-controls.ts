import { randomUUID } from "node:crypto";
import { GatewayError, inBackground, isJson, type Json, type Log, type Store } from "../kit/index.ts";
import { MANUAL_MODES, type ManualControls, type ManualMode, type ManualSetting } from "../upstream/state/manual.ts";
import { manualState, type ManualState } from "./upstream-state.ts";

/** No plugin's name has such a character: the space is the gateway's own. */
const SPACE = "gateway:upstreams";
/** Changes with each change of a setting; upstreams' keys have a prefix. */
const VERSION_KEY = "version";
const UPSTREAM_PREFIX = "upstream:";
/** A broadcast may be lost: what is set must hold on every instance within a second. */
const POLL_INTERVAL_MS = 500;
const MESSAGE = "upstream-controls";

export const MIN_MANUAL_SECONDS = 1;
export const MAX_MANUAL_SECONDS = 7 * 86_400;
/** The version must outlive every setting, or an instance that was away could take an old one for the latest. */
const VERSION_TTL_MS = 2 * MAX_MANUAL_SECONDS * 1000;

export interface ManualOrder {
  readonly upstream: string;
  readonly mode: ManualMode;
  readonly expiresInSeconds: number;
  readonly reason: string;
  readonly by: string;
}

/** How many cooldowns the answering process has ended; absent if it ended no cooldown. */
export interface CooldownsEnded {
  readonly cooldowns_ended?: number;
}

export type ManualAnswer = ManualState & CooldownsEnded;

interface UpstreamControlsOptions {
  readonly store: Pick<Store, "getValue" | "setValue" | "deleteValue" | "broadcast" | "onBroadcast">;
  readonly controls: ManualControls;
  /** Of the configurations that serve: changes with them. */
  readonly upstreams: () => readonly string[];
  /** Cooldowns of an upstream in this process: closing and clearing an override end them everywhere. */
  readonly cooldowns: (upstream: string) => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  readonly pollIntervalMs?: number;
}

/**
 * What operators set of upstreams, shared by all instances of the store: pushed, and polled in case a push is lost. While
 * the store is away the last known holds until it ends by itself.
 */
export class UpstreamControls {
  readonly #options: UpstreamControlsOptions;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | null = null;
  #refreshing: Promise<void> | null = null;
  /** What the settings in force were read by. */
  #readBy = "";

  constructor(options: UpstreamControlsOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.onBroadcast((text) => {
      const { type, cleared } = parsed(text);
      if (type !== MESSAGE) return;
      if (typeof cleared === "string") options.controls.clear(cleared);
      else this.#refreshInBackground(true);
    });
  }

  /** Reads what is set, and follows it from now on. A store that is away is not waited for longer than it takes to know. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      this.#options.controls.end();
      this.#refreshInBackground(false);
    }, this.#options.pollIntervalMs ?? POLL_INTERVAL_MS).unref();
    await this.#refresh(true).catch(() => undefined);
  }

  /** @throws GatewayError NOT_FOUND, STORE_UNAVAILABLE */
  async set({ upstream, mode, expiresInSeconds, reason, by }: ManualOrder): Promise<ManualAnswer> {
    const { store, now, cooldowns } = this.#options;
    this.#check(upstream);
    const ended = mode === "close" ? cooldowns(upstream) : 0;
    const since = now();
    const setting: ManualSetting = { mode, since, until: since + expiresInSeconds * 1000, by, reason };
    await store.setValue(SPACE, UPSTREAM_PREFIX + upstream, JSON.stringify(setting), expiresInSeconds * 1000);
    await this.#changed();
    return { ...manualState(setting)!, ...(ended > 0 && { cooldowns_ended: ended }) };
  }

  /** @returns null: nothing was set, and nothing here was cooling down. @throws GatewayError NOT_FOUND, STORE_UNAVAILABLE */
  async lift(upstream: string): Promise<CooldownsEnded | null> {
    const { store, cooldowns } = this.#options;
    this.#check(upstream);
    const ended = cooldowns(upstream);
    const setting = settingIn(await store.getValue(SPACE, UPSTREAM_PREFIX + upstream));
    await store.deleteValue(SPACE, UPSTREAM_PREFIX + upstream);
    await this.#changed();
    const told = ended > 0 ? { cooldowns_ended: ended } : {};
    if (setting !== null) return told;
    this.#options.controls.clear(upstream);
    this.#tell({ cleared: upstream });
    return ended > 0 ? told : null;
  }

  close(): void {
    this.#unsubscribe();
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #check(upstream: string): void {
    if (!this.#options.upstreams().includes(upstream)) throw new GatewayError("NOT_FOUND", "No such upstream");
  }

  /** After the setting itself: who sees the new version finds it. */
  async #changed(): Promise<void> {
    const { store } = this.#options;
    await store.setValue(SPACE, VERSION_KEY, randomUUID(), VERSION_TTL_MS);
    this.#tell();
    // One under way may have begun to read before.
    await this.#refreshing?.catch(() => undefined);
    await this.#refresh(true);
  }

  /** A message that is lost is made good by the poll, except for a clearance: cooldowns end by themselves, too. */
  #tell(more: { readonly cleared?: string } = {}): void {
    const { store, log } = this.#options;
    const told = async (): Promise<void> => store.broadcast(JSON.stringify({ type: MESSAGE, ...more }));
    inBackground({ error: log.debug.bind(log) }, "telling instances of an upstream's setting", told());
  }

  #refreshInBackground(always: boolean): void {
    const { log } = this.#options;
    const refreshed = this.#refresh(always).catch((err: unknown) => {
      log.debug({ err }, "upstream overrides could not be read; retrying");
    });
    inBackground(log, "reading settings of upstreams", refreshed);
  }

  /** One at a time: a store that is slower than the interval must not be asked more and more. */
  #refresh(always: boolean): Promise<void> {
    return (this.#refreshing ??= this.#read(always).finally(() => (this.#refreshing = null)));
  }

  async #read(always: boolean): Promise<void> {
    const { store, controls, upstreams } = this.#options;
    const names = upstreams();
    const version = (await store.getValue(SPACE, VERSION_KEY)) ?? "";
    const readBy = `${version}\n${names.join("\n")}`;
    if (!always && readBy === this.#readBy) return;
    // Without a version nobody has set anything for longer than a setting can hold.
    const texts =
      version === "" ? [] : await Promise.all(names.map(async (name) => store.getValue(SPACE, UPSTREAM_PREFIX + name)));
    const settings = new Map<string, ManualSetting>();
    for (const [index, text] of texts.entries()) {
      const setting = settingIn(text);
      if (setting !== null) settings.set(names[index]!, setting);
    }
    controls.replaceAll(settings);
    this.#readBy = readBy;
  }
}

/** Another version of the gateway may have written something else: what is not understood sets nothing. */
function settingIn(text: string | null): ManualSetting | null {
  if (text === null) return null;
  const { mode, since, until, by, reason } = parsed(text);
  if (typeof since !== "number" || typeof until !== "number") return null;
  if (typeof by !== "string" || typeof reason !== "string") return null;
  const known = MANUAL_MODES.find((one) => one === mode);
  return known === undefined ? null : { mode: known, since, until, by, reason };
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) ? value : {};
  } catch {
    return {};
  }
}
