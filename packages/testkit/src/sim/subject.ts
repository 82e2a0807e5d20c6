const matchers = new Map<string, (subject: string) => boolean>();

/** True if a subject matches a filter with the wildcards `*` (one token) and `>` (the rest). */
export function subjectMatches(filter: string, subject: string): boolean {
  return filter === subject || (isWild(filter) && matcherOf(filter)(subject));
}

/** True if a filter may match more than one subject. */
export function isWild(filter: string): boolean {
  return filter.endsWith(">") || filter.includes("*");
}

/** A test of subjects against several filters that remembers its answers; no filters take all. */
export function subjectTest(filters: readonly string[]): (subject: string) => boolean {
  if (filters.length === 0) {
    return () => true;
  }
  const exact = new Set(filters.filter((filter) => !isWild(filter)));
  const wild = filters.filter(isWild).map(matcherOf);
  if (wild.length === 0) {
    return (subject) => exact.has(subject);
  }
  const known = new Map<string, boolean>();
  return (subject) => {
    let takes = known.get(subject);
    if (takes === undefined) {
      takes = exact.has(subject) || wild.some((matches) => matches(subject));
      known.set(subject, takes);
    }
    return takes;
  };
}

/** Filters with wildcards are few and used again and again. */
function matcherOf(filter: string): (subject: string) => boolean {
  let matcher = matchers.get(filter);
  if (matcher === undefined) {
    matcher = compile(filter);
    matchers.set(filter, matcher);
  }
  return matcher;
}

function compile(filter: string): (subject: string) => boolean {
  if (!filter.includes("*")) {
    const head = filter.slice(0, -1);
    return (subject) => subject.length > head.length && subject.startsWith(head);
  }
  const wanted = filter.split(".");
  const head = filter.slice(0, filter.indexOf("*"));
  return (subject) => {
    if (!subject.startsWith(head)) {
      return false;
    }
    const tokens = subject.split(".");
    for (let i = 0; i < wanted.length; i += 1) {
      if (wanted[i] === ">") {
        return tokens.length > i;
      }
      if (i >= tokens.length || (wanted[i] !== "*" && wanted[i] !== tokens[i])) {
        return false;
      }
    }
    return tokens.length === wanted.length;
  };
}
