import type { ErrorObject } from "ajv";
import type { BodyName } from "../src/server/body-schemas.ts";

interface Validate {
  (body: unknown): boolean;
  /** Of the last body. */
  readonly errors?: readonly ErrorObject[] | null;
}

export declare const validators: Readonly<Record<BodyName, Validate>>;
/** Those that each schema names. */
export declare const fields: Readonly<Record<BodyName, readonly string[]>>;
