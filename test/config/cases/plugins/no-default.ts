export const name = "no-default";
