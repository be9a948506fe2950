import { bodyValidator } from "./config/bodies.ts";
import type { Endpoint } from "./kit/index.ts";

/** Each is compiled when its endpoint is first used: a start does not wait for all of them. */
export function bodyValidators() {
  const validators = new Map<Endpoint, ReturnType<typeof bodyValidator>>();
  return (endpoint: Endpoint, body: unknown) => {
    let validate = validators.get(endpoint);
    if (validate === undefined) validators.set(endpoint, (validate = bodyValidator(endpoint)));
    return validate(body);
  };
}
