const licensed = Boolean("");
if (!licensed) throw new Error("no license\nsecond line");

export default {};
