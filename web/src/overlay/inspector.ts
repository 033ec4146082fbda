// The window into the engine: layers in the world, and a quiet panel with numbers. It shows what this visitor hears,
// and what the server counts; nothing that the visitor could not know.

import * as three from 'three';

import type { Client } from '../client/client.ts';
import { metres } from '../client/walk.ts';
import { css, element } from '../ui/element.ts';
import { AVATARS, LAYERS } from '../view/palette.ts';
import { type LayerName, Layers } from './layers.ts';
import { type Metrics, PARTS, partsBetween, readMetrics } from './metrics.ts';
import { Plot } from './plot.ts';

const NAMES: Readonly<Record<LayerName, string>> = {
  aura: 'auras',
  pair: 'pairs',
  relation: 'relations',
  predicted: 'predicted',
  confirmed: 'confirmed',
  contact: 'contacts',
  cell: 'cells',
};
const PART_COLOURS = [AVATARS[1], AVATARS[0], AVATARS[2], AVATARS[3], AVATARS[6]];
const READ_EVERY_MS = 1_000;

export class Inspector {
  readonly root: HTMLElement;
  readonly layers = new Layers();
  isOpen = false;
  metrics: Metrics = new Map();
  private readonly rows = new Map<string, HTMLElement>();
  private readonly why = element('p', { class: 'why', 'aria-live': 'polite' }, 'Point at somebody to learn who hears whom.');
  private readonly tick = new Plot('server tick', 'ms', PART_COLOURS);
  private readonly roundTrip = new Plot('round trip', 'ms', [LAYERS.predicted]);
  private readonly incoming = new Plot('in', 'kB/s', [LAYERS.aura]);
  private readonly outgoing = new Plot('out', 'kB/s', [LAYERS.cell]);
  private readonly loss = new Plot('states lost', '%', [LAYERS.contact]);
  private readonly pointer = new three.Vector2(2, 2);
  private readonly ray = new three.Raycaster();
  private readAt = 0;
  private before = { in: 0, out: 0, states: 0, tick: 0, at: 0 };

  constructor(scene: three.Scene, private readonly camera: three.Camera, canvas: HTMLElement) {
    scene.add(this.layers.root);
    const boxes = (Object.keys(LAYERS) as LayerName[]).map((name) => {
      const box = element('input', { type: 'checkbox', 'data-layer': name });
      box.checked = this.layers.isOn[name];
      box.addEventListener('change', () => (this.layers.isOn[name] = box.checked));
      const swatch = element('span', { class: 'swatch' });
      swatch.style.background = css(LAYERS[name]);
      return element('label', {}, box, swatch, NAMES[name], this.row(`layer ${name}`, 'span'));
    });
    const row = (name: string, key: string) => element('tr', {}, element('td', {}, name), this.row(key, 'td'));
    const table = element(
      'table',
      {},
      row('tick', 'tick'),
      row('users', 'users'),
      row('objects', 'objects'),
      row('heard here', 'heard'),
      row('last surprise', 'surprise'),
      row('inputs under way', 'pending'),
      row('clock known to', 'clock'),
      row('page work per frame', 'work'),
    );
    const legend = element('p', {}, ...PARTS.flatMap((part, index) => {
      const swatch = element('span');
      swatch.style.color = css(PART_COLOURS[index]!);
      swatch.textContent = `■ ${part} `;
      return [swatch];
    }));
    legend.style.margin = '0';
    this.root = element(
      'aside',
      { class: 'inspector panel', 'aria-label': 'Inspector' },
      element('section', {}, element('h2', {}, 'Layers'), element('div', { class: 'layers' }, ...boxes)),
      element('section', {}, element('h2', {}, 'Pointed at'), this.why),
      element('section', {}, element('h2', {}, 'Numbers'), table),
      element('section', {}, this.tick.root, legend),
      element('section', {}, this.roundTrip.root, this.loss.root, this.incoming.root, this.outgoing.root),
    );
    this.root.hidden = true;
    canvas.addEventListener('pointermove', (event) => {
      this.pointer.set((2 * event.clientX) / innerWidth - 1, 1 - (2 * event.clientY) / innerHeight);
    });
  }

  toggle(): void {
    this.isOpen = !this.isOpen;
    this.root.hidden = !this.isOpen;
    this.layers.root.visible = this.isOpen;
    this.readAt = 0;
  }

  close(): void {
    if (this.isOpen) this.toggle();
  }

  draw(client: Client, _elapsed: number, workMs = 0): void {
    if (!this.isOpen) return;
    this.layers.draw(client);
    const now = performance.now();
    if (now - this.readAt < READ_EVERY_MS) return;
    void this.read(client, now, workMs);
  }

  private row(key: string, tag: 'td' | 'span'): HTMLElement {
    const made = element(tag, { 'data-number': key });
    this.rows.set(key, made);
    return made;
  }

  private set(key: string, value: string): void {
    const row = this.rows.get(key);
    if (row !== undefined) row.textContent = value;
  }

  private async read(client: Client, now: number, workMs: number): Promise<void> {
    this.readAt = now;
    for (const [name, count] of Object.entries(this.layers.counts)) this.set(`layer ${name}`, String(count));
    this.set('heard', String(client.others.all.size));
    this.set('surprise', `${(1_000 * (client.own?.surprise ?? 0)).toFixed(1)} mm`);
    this.set('pending', String(client.own?.pending ?? 0));
    this.set('clock', `±${((client.clock.errorBoundUs ?? 0) / 1_000).toFixed(2)} ms`);
    this.set('work', `${workMs.toFixed(2)} ms`);
    this.why.textContent = this.explain(client);
    const { counts, newestTick } = client;
    if (this.before.at > 0) {
      const seconds = (now - this.before.at) / 1_000;
      this.roundTrip.push([(client.clock.roundTripUs ?? 0) / 1_000]);
      this.incoming.push([(counts.bytesIn - this.before.in) / 1_000 / seconds]);
      this.outgoing.push([(counts.bytesOut - this.before.out) / 1_000 / seconds]);
      const ticks = Math.max(newestTick - this.before.tick, 1);
      this.loss.push([Math.max(0, 100 * (1 - (counts.states - this.before.states) / ticks))]);
    }
    this.before = { in: counts.bytesIn, out: counts.bytesOut, states: counts.states, tick: newestTick, at: now };
    try {
      const metrics = await readMetrics();
      if (this.metrics.size > 0) this.tick.push(partsBetween(this.metrics, metrics));
      this.metrics = metrics;
      for (const name of ['tick', 'users', 'objects']) this.set(name, String(metrics.get(`kinesphere_${name}`) ?? '-'));
    } catch {
      this.set('tick', 'no answer');
    }
  }

  /** Who is pointed at, and whether and why one hears them. */
  private explain(client: Client): string {
    this.ray.setFromCamera(this.pointer, this.camera);
    let best: { name: string; object: number; pos: three.Vector3Like } | null = null;
    let least = 0.8;
    for (const { entered, shown } of client.others.all.values()) {
      if (shown === null) continue;
      const away = this.ray.ray.distanceToPoint(new three.Vector3(shown.pos.x, shown.pos.y, shown.pos.z));
      if (away < least) {
        least = away;
        best = { name: entered.name || `object ${entered.object}`, object: entered.object, pos: shown.pos };
      }
    }
    if (best === null) return 'Point at somebody to learn who hears whom.';
    const own = client.own!.confirmed.pos;
    const place = client.others.byObject(best.object)!.confirmed.place;
    const there = metres(place);
    const far = Math.hypot(there.x - own.x, there.y - own.y, there.z - own.z);
    const { aura, nickname } = client.welcome!;
    const where = `they are ${far.toFixed(2)} m apart, ${far <= aura ? 'within' : 'a little beyond'} the aura of ${aura} m`;
    return `${nickname} hears of ${best.name}: ${where}.`;
  }
}
