// Relations: the largest sets of users who all hear each other, as the papers have it. For the few that a visitor
// hears.

/** The most vertices that are searched: the work grows quickly. */
export const VERTICES_MAX = 48;
const FOUND_MAX = 64;

/** The maximal cliques of two or more, of a graph given by who is next to whom. */
export function relations(count: number, isNext: (a: number, b: number) => boolean): number[][] {
  const most = Math.min(count, VERTICES_MAX);
  const next = Array.from({ length: most }, (_, a) =>
    new Set(Array.from({ length: most }, (_, b) => b).filter((b) => a !== b && isNext(a, b))));
  const found: number[][] = [];
  const search = (chosen: number[], open: Set<number>, closed: Set<number>): void => {
    if (found.length === FOUND_MAX) return;
    if (open.size === 0) {
      if (closed.size === 0 && chosen.length > 1) found.push(chosen);
      return;
    }
    // Bron and Kerbosch, with the pivot that leaves least to try.
    let pivot = -1;
    let best = -1;
    for (const vertex of [...open, ...closed]) {
      let shared = 0;
      for (const other of open) if (next[vertex]!.has(other)) shared += 1;
      if (shared > best) [pivot, best] = [vertex, shared];
    }
    for (const vertex of [...open]) {
      if (next[pivot]!.has(vertex)) continue;
      const near = (set: Set<number>) => new Set([...set].filter((other) => next[vertex]!.has(other)));
      search([...chosen, vertex], near(open), near(closed));
      open.delete(vertex);
      closed.add(vertex);
    }
  };
  search([], new Set(next.keys()), new Set());
  return found;
}
