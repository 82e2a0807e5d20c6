import type { AlertSinkSpec } from "../model.ts";
import { checkName } from "./grammar.ts";
import type { Note } from "./note.ts";

const EVENT = /^[a-z][a-z0-9-]{0,62}$/;

/** Checks the places that alarms are sent to. */
export function checkAlertSinks(sinks: readonly AlertSinkSpec[], note: Note): void {
  sinks.forEach((sink, index) => {
    const prefix = `alertSinks[${index}]`;
    checkName(sink.name, `${prefix}.name`, note);
    const problem = urlProblem(sink.url);
    if (problem !== undefined) {
      note(`${prefix}.url`, "url", problem);
    }
    sink.events?.forEach((event, position) => {
      if (!EVENT.test(event)) {
        const message = `event name "${event}" is not allowed: letters a to z, digits and -`;
        note(`${prefix}.events[${position}]`, "events", message);
      }
    });
    if (sink.events?.length === 0) {
      note(`${prefix}.events`, "events", "name an event, or leave the list out to take them all");
    }
  });
}

/** What is wrong with the address of a sink; the message never repeats credentials. */
function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) {
    return "is no URL; write one such as https://alerts.example.org/hook";
  }
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `scheme ${url.protocol} is not known; write an https or http URL`;
  }
  return url.username === "" && url.password === ""
    ? undefined
    : "holds credentials; keep secrets out of the tree";
}
