export { createKeeper } from "./keeper.ts";
export { OWN_OPTIONS } from "./options.ts";
