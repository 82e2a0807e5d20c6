export { AGENT_OPTIONS } from "./options.ts";
export { AgentProcess } from "./run-agent.ts";
