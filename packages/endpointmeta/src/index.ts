export {
  canonicalAddress,
  type InterfaceAddresses,
  usableAddresses,
  workloadAddresses,
} from "./addresses.ts";
export {
  type Annotations,
  DEFAULT_PORT,
  DEFAULT_WEIGHT,
  METADATA_PREFIX,
  metadata,
  PORT_ANNOTATION,
  PORTS_ANNOTATION,
  PROTOCOL_ANNOTATION,
  port,
  ports,
  protocol,
  WEIGHT_ANNOTATION,
  weight,
} from "./annotations.ts";
export { EndpointError, type EndpointErrorCode } from "./errors.ts";
export { electPortClass, isKnownClass, KNOWN_CLASSES, portClassName } from "./port-class.ts";
export { PORT_SUFFIXES, portProtocols, protocolsServed } from "./port-protocols.ts";
export { DEFAULT_RESERVED_PORTS, reservedPorts } from "./reserved-ports.ts";
export {
  checkRow,
  type RowFields,
  type RowPorts,
  type RowProblemCode,
  readRow,
  rowProblem,
} from "./row.ts";
export { checkServiceKey, isServiceKey, parseServiceKey, type ServiceKey } from "./service-key.ts";
export { type Problem, type ProblemCode, type StrictOptions, strictCheck } from "./strict-check.ts";
