export type * from "./effect.ts";
export type * from "./message.ts";
export type * from "./reducer.ts";
