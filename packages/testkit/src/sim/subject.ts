/** True if a subject matches a filter with the wildcards `*` (one token) and `>` (the rest). */
export function subjectMatches(filter: string, subject: string): boolean {
  if (filter === subject) {
    return true;
  }
  const wanted = filter.split(".");
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
}
