// What the server counts, read from where operators read it.

/** The parts of a tick, in their order. */
export const PARTS = ['inputs', 'world', 'follow', 'audience', 'fan_out'] as const;

export type Metrics = ReadonlyMap<string, number>;

export function parseMetrics(text: string): Metrics {
  const metrics = new Map<string, number>();
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ');
    if (at > 0 && !line.startsWith('#')) metrics.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return metrics;
}

export async function readMetrics(): Promise<Metrics> {
  const answer = await fetch('/metrics', { cache: 'no-store' });
  return parseMetrics(await answer.text());
}

/** Milliseconds per tick that each part took between two readings. */
export function partsBetween(before: Metrics, after: Metrics): number[] {
  const part = (metrics: Metrics, name: string, what: string) =>
    metrics.get(`kinesphere_tick_part_seconds_${what}{part="${name}"}`) ?? 0;
  return PARTS.map((name) => {
    const ticks = part(after, name, 'count') - part(before, name, 'count');
    const seconds = part(after, name, 'sum') - part(before, name, 'sum');
    return ticks > 0 ? (1_000 * seconds) / ticks : 0;
  });
}
