export { DEFAULT_PREFIX, type Names, names, PARTITIONS } from "./names.ts";
