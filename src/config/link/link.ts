import type { Diagnostic, Severity } from "../diagnostics.ts";
import type { LoadedSteps } from "../steps.ts";
import type { Validated } from "../validate.ts";
import { linkAuth } from "./auth.ts";
import type { Dialects } from "./context.ts";
import { LinkContext } from "./context.ts";
import { linkModels } from "./models.ts";
import { linkPipeline } from "./pipeline.ts";
import { linkScalars } from "./scalars.ts";
import { linkServer } from "./server.ts";
import { linkStatus } from "./status.ts";
import { linkStore } from "./store.ts";
import { linkTiers } from "./tiers.ts";
import { linkUpstreams } from "./upstreams.ts";

export interface LinkOptions {
  readonly dialects: Dialects;
  /** How bad an unset variable or an empty secret is. */
  readonly missingSecret: Severity;
  /** How bad an unset variable is where empty text cannot stand. */
  readonly missingValue: Severity;
}

/** Everything that one value cannot show: names, capabilities, prices, order. */
export function link(validated: Validated, loaded: LoadedSteps, options: LinkOptions): readonly Diagnostic[] {
  const context = new LinkContext(validated, options.dialects, options.missingSecret);
  const unfit = new Set([...validated.unfit, ...loaded.unfit]);
  linkScalars(context, (pointer) => (unfit.has(pointer) ? options.missingValue : options.missingSecret));
  linkServer(context);
  linkStore(context);
  linkAuth(context);
  linkTiers(context);
  linkUpstreams(context);
  linkModels(context);
  linkPipeline(context, loaded.steps);
  linkStatus(context);
  return context.diagnostics;
}
