// How the connection is, and buttons for what keys do.

import type { Connection } from '../client/session.ts';
import { element } from './element.ts';

/** Most crossings are over by then, in milliseconds: who notices nothing need not be told. */
const CROSSING_MS = 500;

export type Action = 'inspector' | 'users' | 'view' | 'sound' | 'chat' | 'leave';

const NAMES: readonly [Action, string, string][] = [
  ['chat', 'Talk', 'Talk (T)'],
  ['users', 'People', 'Who is here (U)'],
  ['view', 'Eyes', 'Look through your own eyes (V)'],
  ['sound', 'Sound', 'Sound (M)'],
  ['inspector', 'Inspect', 'Look inside the engine (I)'],
  ['leave', 'Leave', 'Leave the world'],
];

export class StatusBar {
  readonly root: HTMLElement;
  readonly banner = element('div', { id: 'banner', class: 'panel', role: 'status' });
  private readonly text = element('span');
  private readonly roundTrip = element('span', { class: 'rtt' });
  private readonly status =
    element('div', { id: 'status', class: 'panel' }, element('span', { class: 'light' }), this.text, this.roundTrip);
  private readonly buttons = new Map<Action, HTMLButtonElement>();
  private timer = 0;

  constructor(act: (action: Action) => void) {
    const buttons = NAMES.map(([action, name, title]) => {
      const button = element('button', { type: 'button', title }, name);
      button.addEventListener('click', () => act(action));
      this.buttons.set(action, button);
      return button;
    });
    this.root = element('nav', { id: 'bar', 'aria-label': 'World' }, this.status, element('span', { class: 'space' }),
      ...buttons);
    this.banner.hidden = true;
  }

  show(connection: Connection, isInside: boolean): void {
    this.status.className = `panel ${connection.state}`;
    clearTimeout(this.timer);
    switch (connection.state) {
      case 'connected':
        this.text.textContent = connection.transport;
        this.banner.hidden = true;
        break;
      case 'connecting':
        this.text.textContent = 'connecting';
        break;
      case 'crossing':
        this.text.textContent = 'crossing over';
        this.banner.textContent = 'Crossing over to the server that has this part of the world…';
        this.banner.hidden = true;
        this.timer = window.setTimeout(() => (this.banner.hidden = false), CROSSING_MS);
        break;
      case 'lost':
        this.text.textContent = 'lost';
        this.banner.textContent = `The connection is lost (${connection.why}). Coming back…`;
        this.banner.hidden = !isInside;
        break;
      case 'ended':
        this.banner.hidden = true;
        break;
    }
  }

  /** Says something for a moment. */
  say(text: string): void {
    this.banner.textContent = text;
    this.banner.hidden = false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.banner.hidden = true), 2_500);
  }

  /** Nothing is to be said any more. */
  hush(): void {
    clearTimeout(this.timer);
    this.banner.hidden = true;
  }

  mark(states: Readonly<Partial<Record<Action, boolean>>>): void {
    for (const [action, isOn] of Object.entries(states)) {
      this.buttons.get(action as Action)?.setAttribute('aria-pressed', String(isOn));
    }
  }

  measure(roundTripUs: number | null): void {
    this.roundTrip.textContent = roundTripUs === null ? '' : `${(roundTripUs / 1_000).toFixed(1)} ms`;
  }
}
