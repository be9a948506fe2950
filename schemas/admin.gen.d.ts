import type { ErrorObject } from "ajv";
import type { AdminSchemas } from "./types.gen.ts";

interface Validate {
  (value: unknown): boolean;
  /** Of the last value. */
  readonly errors?: readonly ErrorObject[] | null;
}

export declare const validators: Readonly<Record<keyof AdminSchemas, Validate>>;
/** Names and types of the parameters of a query. */
export declare const parameters: Readonly<
  Record<Extract<keyof AdminSchemas, `${string}Query`>, Readonly<Record<string, string>>>
>;
