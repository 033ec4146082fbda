// The operator's stream: opened with a token, or without one on the server's own machine.

import { type Known, type Watched, decodeOperator, play, watch } from '../wire/operator.ts';
import type { Solid } from '../wire/to_client.ts';
import type { Frame } from './timeline.ts';

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
  private socket: WebSocket | null = null;
  private parts: [number, [number, number, number]][] = [];
  private token = '';

  constructor(private readonly events: WatchEvents) {}

  open(token: string): void {
    this.token = token;
    this.socket?.close();
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/inspect`);
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => socket.send(watch(token));
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => this.received(new Uint8Array(event.data));
    socket.onclose = () => {
      if (this.socket !== socket || this.watched === null) return;
      this.events.closed();
      setTimeout(() => this.socket === socket && this.open(this.token), 1_000);
    };
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
    }
  }
}
