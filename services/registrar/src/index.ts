export type { RegistrarEnv, RegistrarOptions, Scope } from "./options.ts";
export { createRegistrar, Registrar } from "./registrar.ts";
