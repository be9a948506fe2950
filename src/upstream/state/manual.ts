import type { Permit } from "../../kit/index.ts";

/** `drain`: no new attempts, those under way finish. `open`: as an open breaker. `close`: tried whatever the breaker says. */
export const MANUAL_MODES = ["drain", "open", "close"] as const;
export type ManualMode = (typeof MANUAL_MODES)[number];

/** What an operator has set of one upstream. */
export interface ManualSetting {
  readonly mode: ManualMode;
  /** Unix milliseconds. */
  readonly since: number;
  readonly until: number;
  readonly by: string;
  readonly reason: string;
}

/** Of one upstream, shared by its breakers of all configurations. Ends by itself, whoever forgets to lift it. */
export class ManualControl {
  readonly #now: () => number;
  #setting: ManualSetting | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** In force now. */
  get setting(): ManualSetting | null {
    // Asked before each attempt: without a setting it costs this one comparison.
    if (this.#setting === null || this.#now() < this.#setting.until) return this.#setting;
    return null;
  }

  /** @returns whether it is another one than before; one that ended by itself is. */
  replace(setting: ManualSetting | null): boolean {
    const before = this.#setting;
    this.#setting = setting;
    const isSame =
      before?.mode === setting?.mode && before?.since === setting?.since && before?.until === setting?.until;
    return !isSame;
  }

  /** @returns the setting that has ended since the last call, if one has. */
  takeEnded(): ManualSetting | null {
    const ended = this.#setting;
    if (ended === null || this.#now() < ended.until) return null;
    this.#setting = null;
    return ended;
  }
}

/** Whether an operator keeps new attempts away. */
export function isSkipped({ setting }: Pick<ManualControl, "setting">): boolean {
  return setting !== null && setting.mode !== "close";
}

/** Attempts at an upstream that is closed by hand say nothing to its breaker, which goes on afterwards where it was. */
export const UNCOUNTED_PERMIT: Permit = Object.freeze({ answered() {}, end() {} });

export type ManualChange =
  | { readonly type: "set"; readonly setting: ManualSetting }
  | { readonly type: "lifted" | "ended"; readonly setting: null }
  /** Nothing is set, and cooldowns are to end. */
  | { readonly type: "cleared"; readonly setting: null };

/** Settings by upstream, whatever configurations name it. */
export class ManualControls {
  readonly #now: () => number;
  readonly #controls = new Map<string, ManualControl>();
  readonly #listeners = new Set<(upstream: string, change: ManualChange) => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Made on first use; stays the same one for as long as the process lives. */
  of(upstream: string): ManualControl {
    const known = this.#controls.get(upstream);
    if (known !== undefined) return known;
    const made = new ManualControl(this.#now);
    this.#controls.set(upstream, made);
    return made;
  }

  /** Replaces what is set of every upstream; those without a setting have none. */
  replaceAll(settings: ReadonlyMap<string, ManualSetting>): void {
    this.end();
    for (const [upstream, setting] of settings) {
      if (setting.until > this.#now() && this.of(upstream).replace(setting)) {
        this.#tell(upstream, { type: "set", setting });
      }
    }
    for (const [upstream, control] of this.#controls) {
      if (!settings.has(upstream) && control.replace(null)) this.#tell(upstream, { type: "lifted", setting: null });
    }
  }

  /** An operator wants the upstream tried again, without setting anything. */
  clear(upstream: string): void {
    this.#tell(upstream, { type: "cleared", setting: null });
  }

  /** Takes note of settings that have ended by themselves; they are without effect before. */
  end(): void {
    for (const [upstream, control] of this.#controls) {
      if (control.takeEnded() !== null) this.#tell(upstream, { type: "ended", setting: null });
    }
  }

  /** @returns unsubscribes. */
  onChange(listener: (upstream: string, change: ManualChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(upstream: string, change: ManualChange): void {
    for (const listener of this.#listeners) listener(upstream, change);
  }
}
