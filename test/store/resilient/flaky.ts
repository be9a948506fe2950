import { type Log, type Store, storeUnavailable } from "../../../src/kit/index.ts";

/** What a store does with a question: answers, is away, or is away after it has done what it was asked. */
export type Fate = "answer" | "away" | "lost";

/** A store that fails as told; every question is noted. */
export interface Flaky {
  readonly store: Store;
  readonly asked: string[];
  /** Decides each question by its method's name. */
  fate: (method: string) => Fate;
}

export function flaky(inner: Store): Flaky {
  const asked: string[] = [];
  const flaky: Flaky = {
    asked,
    fate: () => "answer",
    store: new Proxy(inner, {
      get(target, name: keyof Store) {
        const method = target[name] as (...args: unknown[]) => unknown;
        // Others go on with it.
        if (name === "close") return () => {};
        if (name === "onStop" || name === "onChange") return method.bind(target);
        return async (...args: unknown[]) => {
          asked.push(name);
          const fate = flaky.fate(name);
          if (fate === "away") throw storeUnavailable(new Error("away"));
          const answer = await method.apply(target, args);
          if (fate === "lost") throw storeUnavailable(new Error("the answer is lost"));
          return answer;
        };
      },
    }),
  };
  return flaky;
}

export interface Line {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export function collectingLog(): { readonly log: Log; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { lines, log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}
