import {
  type Annotations,
  electPortClass,
  metadata,
  parseServiceKey,
  port,
  portClassName,
  portProtocols,
  ports,
  protocol,
  protocolsServed,
  reservedPorts,
  rowProblem,
  weight,
} from "@ringwall/endpointmeta";
import { bind, type Family } from "./family.ts";

interface Annotated {
  readonly annotations?: Annotations | null;
}

/** Classes as vectors write them: a name, or a number that this build may not know. */
type ClassMap = Readonly<Record<string, string | number>>;

interface Row {
  readonly port?: number;
  readonly ports?: readonly number[];
  readonly portProtocols?: ClassMap;
}

const CLASS_NUMBERS: ReadonlyMap<string, number> = new Map([
  ["UNSPECIFIED", 0],
  ["HTTP", 1],
  ["TCP", 2],
  ["UDP", 3],
]);

function classNumber(written: string | number): number {
  return typeof written === "number" ? written : (CLASS_NUMBERS.get(written) ?? Number(written));
}

function classNumbers(classes: ClassMap): Record<number, number> {
  const entries = Object.entries(classes);
  return Object.fromEntries(entries.map(([key, written]) => [key, classNumber(written)]));
}

function classNames(classes: Readonly<Record<number, number>>): Record<string, string> {
  const entries = Object.entries(classes);
  return Object.fromEntries(entries.map(([key, number]) => [key, portClassName(number)]));
}

function rowOf({ portProtocols: classes, ...rest }: Row) {
  return classes === undefined ? rest : { ...rest, portClasses: classNumbers(classes) };
}

function votesOf(votes: Readonly<Record<string, number>>): Record<number, number> {
  const entries = Object.entries(votes);
  return Object.fromEntries(entries.map(([name, count]) => [classNumber(name), count]));
}

/** `endpointmeta.*`, bound to @ringwall/endpointmeta. */
export const endpointmeta: Family = {
  port: bind(({ annotations }: Annotated) => port(annotations ?? undefined)),
  ports: bind((input: Annotated & { readonly defaultPort: number }) =>
    ports(input.annotations ?? undefined, input.defaultPort),
  ),
  protocol: bind(({ annotations }: Annotated) => portClassName(protocol(annotations ?? undefined))),
  weight: bind(({ annotations }: Annotated) => weight(annotations ?? undefined)),
  metadata: bind(({ annotations }: Annotated) => metadata(annotations ?? undefined)),
  portProtocols: bind(({ annotations }: Annotated) =>
    classNames(portProtocols(annotations ?? undefined)),
  ),
  protocolsServed: bind((input: { readonly portProtocols: ClassMap }) =>
    protocolsServed(classNumbers(input.portProtocols)).map(portClassName),
  ),
  reservedPorts: bind(({ annotations }: Annotated) => reservedPorts(annotations ?? undefined)),
  rowProblem: bind(({ row }: { readonly row: Row | null }) =>
    rowProblem(row === null ? undefined : rowOf(row)),
  ),
  electPortClass: bind(({ votes }: { readonly votes: Readonly<Record<string, number>> | null }) =>
    portClassName(electPortClass(votes === null ? undefined : votesOf(votes))),
  ),
  serviceKey: bind(({ text }: { readonly text: string }) => parseServiceKey(text)),
};
