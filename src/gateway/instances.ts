import { type BreakerState, inBackground, type Log, type Store } from "../kit/index.ts";

/** What every instance says of itself, to be read by the others. */
export interface Member {
  readonly instance: string;
  readonly host: string;
  readonly pid: number;
  /** ISO 8601. */
  readonly started_at: string;
  /** Of the configuration in force. */
  readonly hash: string;
  readonly generation: number;
  /** ISO 8601. */
  readonly loaded_at: string;
  readonly draining: boolean;
  /** By upstream. */
  readonly breakers: Readonly<Record<string, BreakerState>>;
  readonly health: Readonly<Record<string, string>>;
  /** Streamed answers under way. */
  readonly streams: number;
}

/** Milliseconds between announcements, and how long one counts: a few may be lost. */
const EVERY = 1_000;
const TTL = 4_000;

export interface FleetOptions {
  readonly store: Pick<Store, "announce" | "announced">;
  /** This process as it is now. */
  readonly self: () => Member;
  readonly log: Log;
  readonly every?: number;
}

export interface Fleet {
  /** Says now what would be said within a second. */
  announce(): Promise<void>;
  /** Every other instance of the store; null while it does not answer. */
  others(): Promise<readonly Member[] | null>;
  /** Says for the last time who this is, and stops. */
  close(): Promise<void>;
}

/** Announces this process through the store, and knows the others. Nothing of it is on the way of a request. */
export function joinFleet({ store, self, log, every = EVERY }: FleetOptions): Fleet {
  let saying: Promise<void> | null = null;
  let silent = false;

  const say = async (ttl: number): Promise<void> => {
    try {
      const member = self();
      await store.announce(member.instance, JSON.stringify(member), ttl);
      silent = false;
    } catch (error) {
      if (!silent) log.warn({ err: error }, "this instance cannot be announced: the others do not see it");
      silent = true;
    }
  };
  // A store that is slower than the clock must not be told more and more.
  const announce = (): Promise<void> => (saying ??= say(TTL).finally(() => (saying = null)));
  const announceSoon = (): void => inBackground(log, "an announcement", announce());
  const timer = setInterval(announceSoon, every).unref();
  announceSoon();

  return {
    async announce() {
      // What is being said may be older than what is to be said.
      await saying;
      await announce();
    },
    async others() {
      try {
        const own = self().instance;
        const members = [...(await store.announced()).values()].flatMap(readMember);
        return members.filter(({ instance }) => instance !== own);
      } catch {
        return null;
      }
    },
    async close() {
      clearInterval(timer);
      // What is being said is not waited for: a store that hangs must not hold the end, and hears in the order of speech.
      await say(1);
    },
  };
}

/** What another version of the gateway says may have another shape: without the main fields it is passed over. */
function readMember(state: string): readonly Member[] {
  try {
    const value = JSON.parse(state) as Partial<Member> | null;
    if (typeof value?.instance !== "string" || typeof value.hash !== "string") return [];
    const { breakers = {}, health = {}, draining = false } = value;
    return [{ ...(value as Member), breakers, health, draining }];
  } catch {
    return [];
  }
}
