// The operator's token in this browser: kept once a server has taken it, so that the map and the inspector ask once.

const KEY = 'kinesphere.operator';

export function keptToken(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

export function keepToken(token: string): void {
  try {
    localStorage.setItem(KEY, token);
  } catch {
    // A browser that keeps nothing asks again.
  }
}

/** Trades the one-time secret behind `#` for the token, and drops it from the address. Without one does nothing. */
export async function redeem(): Promise<void> {
  const secret = location.hash.slice(1);
  if (secret === '') return;
  history.replaceState(null, '', location.pathname + location.search);
  const answer = await fetch('/operator/once', { method: 'POST', body: secret });
  if (answer.ok) keepToken(await answer.text());
}
