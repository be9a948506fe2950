export default { name: "bad-stage", stage: "before", schema: new URL("./good.schema.json", import.meta.url), setup: () => ({}) };
