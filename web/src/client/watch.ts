// The operator's stream: opened with a token, or without one on the server's own machine.

import { type Cells, type Groups, type Hearing, type Wanted, look } from '../wire/inside.ts';
import { type Borders, type Known, type Watched, decodeOperator, play, watch } from '../wire/operator.ts';
import type { Solid } from '../wire/to_client.ts';

/** Everything that can move, after a tick; places in metres. */
export interface Frame {
  readonly tick: number;
  readonly places: ReadonlyMap<number, readonly [number, number, number]>;
}

export interface WatchEvents {
  opened(): void;
  refused(sentence: string): void;
  seen(frame: Frame, isLive: boolean): void;
  played(to: number): void;
  closed(): void;
}

export class Watch {
  watched: Watched | null = null;
  readonly known = new Map<number, Known>();
  solids: Solid[] = [];
  /** What was told last of the engine, where it was asked for. */
  groups: Groups | null = null;
  cells: Cells | null = null;
  hearing: Hearing | null = null;
  /** Which node decides where, in a world of several servers. */
  borders: Borders | null = null;
  private wanted: Wanted | null = null;
  private socket: WebSocket | null = null;
  private parts: [number, [number, number, number]][] = [];
  private token = '';

  constructor(private readonly events: WatchEvents) {}

  open(token: string): void {
    this.token = token;
    const before = this.socket;
    this.socket = null;
    before?.close();
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/inspect`);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      socket.send(watch(token));
      if (this.wanted !== null) socket.send(look(this.wanted));
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => this.received(new Uint8Array(event.data));
    socket.onclose = () => {
      if (this.socket !== socket || this.watched === null) return;
      this.events.closed();
      setTimeout(() => this.socket === socket && this.open(this.token), 1_000);
    };
  }

  /** Ends it; nothing is told any more. */
  close(): void {
    const { socket } = this;
    this.socket = null;
    this.watched = this.groups = this.cells = this.hearing = this.borders = null;
    socket?.close();
  }

  /** Asks for something else than before. */
  look(wanted: Wanted): void {
    const before = this.wanted;
    const isSame = before !== null && (['places', 'groups', 'cells', 'object'] as const)
      .every((what) => before[what] === wanted[what]);
    if (isSame) return;
    this.wanted = wanted;
    if (!wanted.groups) this.groups = null;
    if (!wanted.cells) this.cells = null;
    if (this.hearing?.object !== wanted.object) this.hearing = null;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(look(wanted));
  }

  /** What is called so; a number where nothing is known. */
  nameOf(object: number): string {
    return this.known.get(object)?.name || `object ${object}`;
  }

  /** Why one is told of another, or not: a sentence of the server. */
  async why(listener: number, speaker: number): Promise<string> {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (this.token !== '') headers['authorization'] = `Bearer ${this.token}`;
    const body = JSON.stringify({ do: 'why', listener: String(listener), speaker: String(speaker) });
    const answer = await fetch('/operator', { method: 'POST', headers, body });
    const text = await answer.text();
    return answer.ok ? (JSON.parse(text) as { sentence: string }).sentence : text;
  }

  play(from: number, to: number, every: number): void {
    this.socket?.send(play(from, to, every));
  }

  private received(bytes: Uint8Array): void {
    const message = decodeOperator(bytes);
    switch (message.type) {
      case 'Watched':
        this.watched = message;
        this.solids = [];
        this.borders = null;
        return this.events.opened();
      case 'Refused':
        return this.events.refused(message.sentence);
      case 'Scene':
        this.solids.push(...message.solids);
        return;
      case 'Known':
        for (const known of message.known) this.known.set(known.object, known);
        return;
      case 'View': {
        for (const [object, [x, y, z]] of message.places) this.parts.push([object, [x / 1_024, y / 1_024, z / 1_024]]);
        if (!message.isLast) return;
        const frame = { tick: message.tick, places: new Map(this.parts) };
        this.parts = [];
        return this.events.seen(frame, message.isLive);
      }
      case 'Played':
        return this.events.played(message.to);
      case 'Groups':
        this.groups = message;
        return;
      case 'Cells':
        this.cells = message;
        return;
      case 'Hearing':
        this.hearing = message;
        return;
      case 'Borders':
        this.borders = message;
        return;
    }
  }
}
