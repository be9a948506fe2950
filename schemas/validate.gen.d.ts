import type { Validate } from "../src/config/schema.ts";

export declare const validate: Validate;
/** By the branch as JSON. */
export declare const branches: Readonly<Record<string, Validate>>;
