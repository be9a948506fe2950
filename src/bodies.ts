import { type BodyName, bodyValidator } from "./config/bodies.ts";

/** Each is compiled when a body of its kind first comes: a start does not wait for all of them. */
export function bodyValidators() {
  const validators = new Map<BodyName, ReturnType<typeof bodyValidator>>();
  return (name: BodyName, body: unknown) => {
    let validate = validators.get(name);
    if (validate === undefined) validators.set(name, (validate = bodyValidator(name)));
    return validate(body);
  };
}
