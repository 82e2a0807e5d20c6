import { conflictError, effectivePuts, type Put, submit } from "../live/commit.ts";
import type { Operator } from "../live/operator.ts";
import { environmentFor } from "../live/services.ts";
import type { LiveTree } from "../live/tree.ts";
import type { Session } from "../session.ts";
import {
  type Committed,
  commitJson,
  commitText,
  settle,
  showWarnings,
  waitIfAsked,
} from "./commit-result.ts";
import { defaultAuthor } from "./options.ts";

/** Options of commands that change the live tree by an edit of their own. */
export interface EditOptions {
  readonly author?: string;
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly wait?: number | true;
}

/** An edit, made against the tree that it was read from. */
export interface Edit {
  readonly tree: LiveTree;
  readonly puts: readonly Put[];
}

/** An edit that was committed. */
export interface Edited extends Committed {
  readonly puts: readonly Put[];
}

const ATTEMPTS = 5;

/**
 * Reads, edits and commits. When someone else applied meanwhile, the edit is made again on what is
 * there now: it says what to set, not what the file was.
 */
export async function commitEdit(
  session: Session,
  options: EditOptions & { readonly message: string },
  edit: (operator: Operator) => Promise<Edit>,
): Promise<Edited> {
  const operator = await session.operator();
  for (let attempt = 1; ; attempt += 1) {
    const { tree, puts } = await edit(operator);
    const changed = effectivePuts(tree, puts);
    const outcome = await submit(operator, {
      base: tree,
      puts: changed,
      removals: [],
      author: options.author ?? defaultAuthor(),
      message: options.message,
      environment: await environmentFor(operator, tree, session.globals.environment),
      dryRun: options.dryRun === true,
    });
    if (outcome.kind !== "conflict") return { ...settle(outcome, () => undefined), puts: changed };
    if (attempt === ATTEMPTS) throw conflictError(outcome.head);
  }
}

/** Shows what an edit did, after waiting if that was asked. */
export async function reportEdit(
  session: Session,
  edited: Edited,
  options: EditOptions,
  done: () => string,
  data: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { commit, warnings, puts } = edited;
  showWarnings(session, warnings);
  const dryRun = options.dryRun === true;
  const waited = dryRun ? undefined : await waitIfAsked(session, commit, options.wait);
  const document = {
    dryRun,
    commit: dryRun ? null : commitJson(commit),
    changed: puts.map(({ layer, path }) => `${layer}/${path}`),
    ...data,
    warnings,
    ...(waited === undefined ? {} : { converged: waited }),
  };
  session.out.result(document, () => {
    if (dryRun) return [`would have ${done()}: ${puts.length} units change`];
    if (puts.length === 0) return [`nothing changed: it was so already, ${commitText(commit)}`];
    const lines = [`${done()}: ${commitText(commit)}`];
    if (waited !== undefined) {
      lines.push(`converged: ${waited.agents} agents after ${waited.seconds.toFixed(2)} s`);
    }
    return lines;
  });
}
