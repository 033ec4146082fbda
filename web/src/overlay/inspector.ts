// The window into the engine: layers in the world, and a quiet panel with numbers. It shows what this visitor hears and
// what the server counts. Operators, who are on the server's own machine or have its token, see what the engine does
// besides: its groups, its cells, and the listeners of the user they point at.

import * as three from 'three';

import type { Client } from '../client/client.ts';
import type { Other } from '../client/others.ts';
import { metres } from '../client/walk.ts';
import { Watch } from '../client/watch.ts';
import { css, element } from '../ui/element.ts';
import { AVATARS, LAYERS } from '../view/palette.ts';
import { type LayerName, Layers } from './layers.ts';
import { type Metrics, PARTS, partsBetween, readMetrics } from './metrics.ts';
import { Plot } from './plot.ts';

const NAMES: Readonly<Record<LayerName, string>> = {
  aura: 'auras',
  pair: 'pairs',
  relation: 'relations',
  group: 'groups',
  predicted: 'predicted',
  confirmed: 'confirmed',
  contact: 'contacts',
  cell: 'cells',
  border: 'borders',
};
const PART_COLOURS = [AVATARS[1], AVATARS[0], AVATARS[2], AVATARS[3], AVATARS[6]];
const READ_EVERY_MS = 1_000;
const POINT_EVERY_MS = 250;
/** Names that are spelled out of those who hear and are heard. */
const NAMED_MAX = 8;
const NOBODY = 'Point at somebody to learn who hears whom.';

export class Inspector {
  readonly root: HTMLElement;
  readonly layers = new Layers();
  isOpen = false;
  metrics: Metrics = new Map();
  private readonly rows = new Map<string, HTMLElement>();
  private readonly why = element('p', { class: 'why', 'aria-live': 'polite' }, NOBODY);
  private readonly hears = element('p', { class: 'why', 'data-number': 'hears' });
  private readonly heardBy = element('p', { class: 'why', 'data-number': 'heard by' });
  readonly watch = new Watch({
    opened: () => (this.gate.hidden = true),
    refused: (sentence) => {
      this.gate.hidden = false;
      this.refusal.textContent = sentence;
    },
    seen: () => {},
    played: () => {},
    closed: () => {},
  });
  private readonly refusal = element('p', { class: 'why' });
  private readonly token =
    element('input', { type: 'password', placeholder: 'operator token', 'aria-label': 'Operator token',
    autocomplete: 'off' });
  private readonly gate =
    element('form', { class: 'operator' }, this.refusal, this.token,
    element('button', { type: 'submit' }, 'Look inside'));
  /** The user that is pointed at, and the server's sentence about it, when it has come. */
  private pointed: { object: number; sentence: string } | null = null;
  private pointedAt = 0;
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
    const legend = element('p', { class: 'legend' }, ...PARTS.flatMap((part, index) => {
      const swatch = element('span');
      swatch.style.color = css(PART_COLOURS[index]!);
      swatch.textContent = `■ ${part} `;
      return [swatch];
    }));
    this.root = element(
      'aside',
      { class: 'inspector panel', 'aria-label': 'Inspector' },
      element('section', {}, element('h2', {}, 'Layers'), element('div', { class: 'layers' }, ...boxes), this.gate),
      element('section', {}, element('h2', {}, 'Pointed at'), this.why, this.hears, this.heardBy),
      element('section', {}, element('h2', {}, 'Numbers'), table),
      element('section', {}, this.tick.root, legend),
      element('section', { class: 'plots' }, this.roundTrip.root, this.loss.root, this.incoming.root,
        this.outgoing.root),
    );
    this.root.hidden = true;
    this.gate.hidden = true;
    this.gate.addEventListener('submit', (event) => {
      event.preventDefault();
      this.watch.open(this.token.value.trim());
    });
    for (const kind of ['pointermove', 'pointerdown'] as const) {
      canvas.addEventListener(kind, (event) => {
        this.pointer.set((2 * event.clientX) / innerWidth - 1, 1 - (2 * event.clientY) / innerHeight);
        this.pointedAt = 0;
      });
    }
  }

  toggle(): void {
    this.isOpen = !this.isOpen;
    this.root.hidden = !this.isOpen;
    this.layers.root.visible = this.isOpen;
    this.readAt = 0;
    if (this.isOpen) this.watch.open(this.token.value.trim());
    else this.watch.close();
  }

  close(): void {
    if (this.isOpen) this.toggle();
  }

  draw(client: Client, _elapsed: number, workMs = 0): void {
    if (!this.isOpen) return;
    this.layers.draw(client, this.watch);
    const now = performance.now();
    if (now - this.pointedAt >= POINT_EVERY_MS) this.point(client, now);
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
    // The user pointed at is always watched; groups are not where too many users hear each other.
    const { watched, groups, hearing } = this.watch;
    if (this.layers.isOn.group && watched !== null && groups === null && hearing !== null) this.set('layer group',
      'too many pairs');
    this.set('heard', String(client.others.all.size));
    this.set('surprise', `${(1_000 * (client.own?.surprise ?? 0)).toFixed(1)} mm`);
    this.set('pending', String(client.own?.pending ?? 0));
    this.set('clock', `±${((client.clock.errorBoundUs ?? 0) / 1_000).toFixed(2)} ms`);
    this.set('work', `${workMs.toFixed(2)} ms`);
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

  /** Finds who is pointed at, and asks and says who hears them and whom they hear. */
  private point(client: Client, now: number): void {
    this.pointedAt = now;
    const other = this.under(client);
    const { isOn } = this.layers;
    const { own } = client.welcome!;
    this.watch.look({ places: false, groups: isOn.group, cells: isOn.cell, object: other?.entered.object ?? own });
    if (other === null) this.pointed = null;
    else if (this.pointed?.object !== other.entered.object) {
      const pointed = { object: other.entered.object, sentence: '' };
      this.pointed = pointed;
      if (this.watch.watched !== null) void this.watch.why(own, pointed.object)
        .then((sentence) => (pointed.sentence = sentence), () => {});
    }
    this.why.textContent = other === null ? NOBODY : this.pointed!.sentence || explain(client, other);
    const { hearing } = this.watch;
    const isTold = other !== null && hearing?.object === other.entered.object;
    const lists: [HTMLElement, string, number, readonly number[]][] = [
      [this.hears, 'Hears', hearing?.hearsAll ?? 0, hearing?.hears ?? []],
      [this.heardBy, 'Heard by', hearing?.heardByAll ?? 0, hearing?.heardBy ?? []],
    ];
    for (const [row, what, all, objects] of lists) row.textContent = isTold ? this.list(client, what, all, objects)
      : '';
    // What a visitor can know: who of those that are heard here is near enough to hear it, too.
    if (other !== null && this.watch.watched === null) this.heardBy.textContent =
      this.list(client, 'Near enough to hear it', null, near(client, other));
  }

  private list(client: Client, what: string, all: number | null, objects: readonly number[]): string {
    const { own, nickname } = client.welcome!;
    const names = objects.slice(0, NAMED_MAX)
      .map((object) => (object === own ? `${nickname} (you)` : client.others.byObject(object)?.entered.name
      || this.watch.nameOf(object)));
    const more = (all ?? objects.length) - names.length;
    return `${what} ${all ?? objects.length}${names.length > 0 ? `: ${names.join(', ')}` : ''}${more > 0
      ? ` and ${more} more` : ''}.`;
  }

  private under(client: Client): Other | null {
    this.ray.setFromCamera(this.pointer, this.camera);
    let best: Other | null = null;
    let least = 0.8;
    const at = new three.Vector3();
    for (const other of client.others.all.values()) {
      const away = this.ray.ray.distanceToPoint(at.set(other.x, other.y, other.z));
      if (away < least) [least, best] = [away, other];
    }
    return best;
  }
}

/** Whether and why the own user hears another, as far as the page knows. */
function explain(client: Client, { entered, confirmed }: Other): string {
  const far = between(client.own!.confirmed.pos, metres(confirmed.place));
  const { aura, nickname } = client.welcome!;
  const where = `they are ${far.toFixed(2)} m apart, ${far <= aura ? 'within'
    : 'a little beyond'} the aura of ${aura} m`;
  return `${nickname} hears of ${entered.name || `object ${entered.object}`}: ${where}.`;
}

/** The own user and those it hears that have names and are near enough to hear another. */
function near(client: Client, other: Other): number[] {
  const { aura, own } = client.welcome!;
  const people = [...client.others.all.values()]
    .filter((one) => one !== other && one.entered.kind === 'Avatar' && one.entered.name !== ''
    && between(one, other) <= aura);
  return [...(between(client.own!.shown, other) <= aura ? [own] : []), ...people.map(({ entered }) => entered.object)];
}

const between = (a: three.Vector3Like, b: three.Vector3Like): number => Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
