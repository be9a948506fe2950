import { SimError } from "../error.ts";

/** 400 about one place of the request, named as the interface names it. */
export function bad(at: string, what: string): SimError {
  return new SimError(400, `${at}: ${what}`);
}
