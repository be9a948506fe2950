import { definePlugin, type Hooks, type Outcome, type Plugin, type Stage } from "../../src/kit/index.ts";

const NO_SCHEMA = new URL("file:///no-options.schema.json");

/** A plugin of these hooks, for tests. */
export function plugin(name: string, stage: Stage, hooks: Hooks): Plugin {
  return definePlugin({ name, stage, schema: NO_SCHEMA, setup: () => hooks });
}

/** An admit plugin that notes, in `journal`, its admission and every call of its settler. */
export function reserving(name: string, journal: string[], outcomes: Outcome[] = []): Plugin {
  return plugin(name, "admit", {
    admit: () => {
      journal.push(`${name} admits`);
      return {
        settle: (outcome) => {
          journal.push(`${name} settles`);
          outcomes.push(outcome);
        },
      };
    },
  });
}
