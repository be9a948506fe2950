/** How much of everything. */
export interface Sizes {
  /** Seconds, and answers for which it goes on, but not three times as long: until then what is measured is the compiler. */
  readonly warmup: number;
  readonly warmupAnswers: number;
  readonly streamWarmup: number;
  /** Seconds until what a start or many streams have left behind is gone. */
  readonly settling: number;
  readonly requestsPerSecond: number;
  readonly fewStreams: number;
  readonly manyStreams: number;
  /** Streams that are open and silent, for the memory of each. */
  readonly idleStreams: number;
  /** Streams whose clients leave at once. */
  readonly leavingStreams: number;
  /** In the large gateway; the small one has SMALL of each. */
  readonly keys: number;
  readonly models: number;
  readonly users: number;
  /** How many of the keys and models call in the first of two traffics; in the second all do. */
  readonly active: number;
  /** Seconds in the middle of which a configuration changes. */
  readonly reload: number;
  /** Repetitions of a start, of a check, of a reload: odd. */
  readonly starts: number;
  readonly growthRequests: number;
  readonly growthStreams: number;
}

export const FULL: Sizes = {
  warmup: 8,
  warmupAnswers: 20_000,
  streamWarmup: 3,
  settling: 2,
  requestsPerSecond: 500,
  fewStreams: 200,
  manyStreams: 1_000,
  idleStreams: 2_000,
  leavingStreams: 1_000,
  keys: 100_000,
  models: 5_000,
  users: 1_000_000,
  active: 1_000,
  reload: 4,
  starts: 5,
  growthRequests: 200_000,
  growthStreams: 20_000,
};

/** Shows that every row still runs; its figures mean nothing. */
export const TINY: Sizes = {
  warmup: 0.2,
  warmupAnswers: 0,
  streamWarmup: 0.2,
  settling: 0.1,
  requestsPerSecond: 50,
  fewStreams: 4,
  manyStreams: 8,
  idleStreams: 8,
  leavingStreams: 8,
  keys: 100,
  models: 20,
  users: 1_000,
  active: 10,
  reload: 1,
  starts: 1,
  growthRequests: 200,
  growthStreams: 20,
};
