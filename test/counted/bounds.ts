/** What is counted of the work of one request. */
export interface Work {
  /** Calls of the store's methods. */
  readonly "store calls": number;
  readonly "SQL statements": number;
  readonly "Redis commands": number;
  readonly "JSON.parse": number;
  readonly "JSON.stringify": number;
  readonly promises: number;
  /** Made, not refreshed: setTimeout, setInterval, and those of sockets. */
  readonly timers: number;
  readonly immediates: number;
  /** Signals made by AbortSignal.any and AbortSignal.timeout among them. */
  readonly "abort controllers": number;
}

export const CONTENT_EVENTS = 20;

/**
 * At most so much work may one request be: a quarter of 50 sequential ones through a warm gateway do no more, with 2 KB
 * bodies and a line of log each. A stream has CONTENT_EVENTS events, each read by itself.
 *
 * Less work fails, too, once more than 1 and more than a tenth of a bound are unused, so that the table stays true. To
 * lower bounds after a change that saves work: `npx vitest run --config test/vitest.config.ts test/counted` shows what is
 * measured beside what stands here. Write that here, in the commit of the change. A bound that is raised needs its reason
 * in the commit's message.
 */
export const BOUNDS: Readonly<Record<"SQLite" | "Redis", Readonly<Record<"request" | "stream", Work>>>> = {
  SQLite: {
    request: {
      "store calls": 3,
      "SQL statements": 6,
      "Redis commands": 0,
      "JSON.parse": 2,
      "JSON.stringify": 6,
      promises: 18,
      timers: 2,
      immediates: 3,
      "abort controllers": 0,
    },
    stream: {
      "store calls": 3,
      "SQL statements": 6,
      "Redis commands": 0,
      "JSON.parse": 26,
      "JSON.stringify": 15,
      promises: 31,
      timers: 3,
      immediates: 3,
      "abort controllers": 0,
    },
  },
  Redis: {
    request: {
      "store calls": 2,
      "SQL statements": 0,
      "Redis commands": 2,
      "JSON.parse": 2,
      "JSON.stringify": 7,
      promises: 31,
      timers: 4,
      immediates: 4,
      "abort controllers": 0,
    },
    stream: {
      "store calls": 2,
      "SQL statements": 0,
      "Redis commands": 2,
      "JSON.parse": 26,
      "JSON.stringify": 16,
      promises: 43,
      timers: 5,
      immediates: 4,
      "abort controllers": 0,
    },
  },
};
