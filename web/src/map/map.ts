// Brings together the stream, the picture and the time line.

import { type Frame, Watch } from '../client/watch.ts';
import { css, element } from '../ui/element.ts';
import { AVATARS, LAYERS, groupName, hueOf } from '../view/palette.ts';
import type { Borders, Known } from '../wire/operator.ts';
import { Timeline } from './timeline.ts';

const ZOOM = { least: 0.2, most: 200 };
/** Free room around the world when it is first shown, in pixels. */
const MARGIN = 14;
/** Lines on the ground, in metres. */
const GRID = 10;
/** A pointer that went farther than this while it was down has dragged the map and selects nothing, in pixels. */
const STILL_PX = 4;

interface Place {
  readonly x: number;
  readonly z: number;
}

export class OperatorMap {
  readonly watch: Watch;
  readonly timeline: Timeline;
  private readonly context: CanvasRenderingContext2D;
  private readonly search =
    element('input', { type: 'search', placeholder: 'Find by name', 'aria-label': 'Find by name' });
  private readonly numbers = element('span', { class: 'numbers' });
  private readonly title = element('h1', {}, 'Map');
  private readonly why = element('span', { class: 'numbers', role: 'status' });
  private readonly heard = element('span', { class: 'numbers' });
  private readonly layers = { auras: false, pairs: false, groups: false, cells: true, names: true, borders: true };
  private readonly bar: HTMLElement;
  private readonly gate: HTMLElement;
  private readonly token =
    element('input', { type: 'password', placeholder: 'operator token', 'aria-label': 'Operator token',
    autocomplete: 'off' });
  private readonly error = element('p', { class: 'error', role: 'alert' });
  private center = { x: 0, z: 0 };
  private scale = 0;
  /** Where the pointer went down, and how far from there it has been since. */
  private press = { x: 0, y: 0, farthest: 0 };
  selected: number | null = null;
  /** What was drawn last, for tests and for the curious. */
  frame: Frame | null = null;

  constructor(private readonly canvas: HTMLCanvasElement, ui: HTMLElement) {
    this.context = canvas.getContext('2d')!;
    this.watch = new Watch({
      opened: () => {
        this.gate.hidden = true;
        // It may have said that the connection is lost.
        this.why.textContent = '';
        this.title.textContent = this.watch.watched?.name ?? 'Map';
        this.timeline.open(this.watch.watched!);
      },
      refused: (sentence) => {
        if (this.watch.watched === null) {
          this.gate.hidden = false;
          this.error.textContent = sentence;
          this.token.focus();
        } else this.why.textContent = sentence;
      },
      seen: (frame, isLive) => this.timeline.take(frame, isLive),
      played: (to) => this.timeline.played(to),
      closed: () => (this.why.textContent = 'The connection is lost; coming back…'),
    });
    this.timeline = new Timeline((from, to, every) => this.watch.play(from, to, every));
    const toggles = (Object.keys(this.layers) as (keyof typeof this.layers)[]).map((name) => {
      const button = element('button', { type: 'button', 'aria-pressed': String(this.layers[name]) }, name);
      button.addEventListener('click', () => {
        this.layers[name] = !this.layers[name];
        button.setAttribute('aria-pressed', String(this.layers[name]));
      });
      return button;
    });
    const form = element('form', { class: 'panel' }, element('h1', {}, 'Operator’s map'), this.error, this.token,
      element('button', { type: 'submit' }, 'Open'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.watch.open(this.token.value.trim());
    });
    this.gate = element('section', { class: 'gate' }, form);
    this.gate.hidden = true;
    this.bar = element('header', { class: 'map-bar panel' }, this.title, this.search, ...toggles, this.numbers,
      this.heard, this.why);
    ui.append(this.bar, this.timeline.root, this.gate);
    this.search.addEventListener('input', () => this.find());
    canvas.addEventListener('wheel', (event) => this.zoom(event), { passive: false });
    canvas.addEventListener('pointerdown', ({ clientX, clientY }) =>
      (this.press = { x: clientX, y: clientY, farthest: 0 }));
    canvas.addEventListener('pointermove', (event) => this.drag(event));
    canvas.addEventListener('click', (event) => {
      if (this.press.farthest <= STILL_PX) void this.pick(event);
    });
    this.watch.open('');
    const frame = () => {
      requestAnimationFrame(frame);
      this.paint();
    };
    frame();
  }

  private find(): void {
    const key = this.search.value.trim().toLowerCase();
    const found = key === '' ? undefined : [...this.watch.known.values()]
      .find((known) => known.name.toLowerCase().includes(key));
    const place = found && this.frame?.places.get(found.object);
    this.selected = place ? found.object : null;
    if (place) this.center = { x: place[0], z: place[2] };
  }

  private zoom(event: WheelEvent): void {
    event.preventDefault();
    const before = this.toWorld(event.clientX, event.clientY);
    this.scale = Math.min(Math.max(this.scale * Math.exp(-event.deltaY * 0.0012), ZOOM.least), ZOOM.most);
    const after = this.toWorld(event.clientX, event.clientY);
    this.center = { x: this.center.x + before.x - after.x, z: this.center.z + before.z - after.z };
  }

  private drag(event: PointerEvent): void {
    if (event.buttons === 0) return;
    const { press } = this;
    press.farthest = Math.max(press.farthest, Math.hypot(event.clientX - press.x, event.clientY - press.y));
    this.center = { x: this.center.x - event.movementX / this.scale, z: this.center.z - event.movementY / this.scale };
  }

  private toWorld(x: number, y: number): { x: number; z: number } {
    return { x: this.center.x + (x - innerWidth / 2) / this.scale,
      z: this.center.z + (y - innerHeight / 2) / this.scale };
  }

  /** The object that is clicked at; a second one is explained: whether the first hears it, and why. */
  private async pick(event: MouseEvent): Promise<void> {
    const at = this.toWorld(event.clientX, event.clientY);
    let best: number | null = null;
    let least = 12 / this.scale;
    for (const [object, [x, , z]] of this.frame?.places ?? []) {
      const away = Math.hypot(x - at.x, z - at.z);
      if (away < least) [best, least] = [object, away];
    }
    const first = this.selected;
    this.selected = best;
    this.why.textContent = '';
    if (best === null || first === null || best === first) return;
    this.selected = first;
    this.why.textContent = await this.watch.why(first, best);
  }

  private paint(): void {
    const { watched } = this.watch;
    const { canvas, context } = this;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [innerWidth, innerHeight];
    if (canvas.width !== width * ratio || canvas.height !== height * ratio) [canvas.width, canvas.height] =
      [width * ratio, height * ratio];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = '#0d1020';
    context.fillRect(0, 0, width, height);
    if (watched === null) return;
    const [low, high] = watched.bounds.map(([x, , z]) => ({ x: x / 1_024, z: z / 1_024 }));
    if (this.scale === 0) this.fit(low!, high!);
    const x = (at: number) => width / 2 + (at - this.center.x) * this.scale;
    const y = (at: number) => height / 2 + (at - this.center.z) * this.scale;
    this.drawGround(low!, high!, x, y);
    this.watch.look({ places: true, groups: this.layers.groups, cells: this.layers.cells, object: this.selected });
    if (this.timeline.isLive && this.layers.cells) this.drawCells(x, y);
    this.drawStanding(x, y);
    if (this.layers.borders) this.drawBorders(x, y);
    const frame = this.timeline.at(performance.now());
    this.frame = frame;
    if (frame === null) return;
    if (this.layers.auras || this.layers.pairs) this.drawHearing(frame, watched.aura, x, y);
    if (this.timeline.isLive && this.layers.groups) this.drawGroups(frame, x, y);
    this.drawObjects(frame, x, y);
    if (this.layers.borders) this.nameRegions(x, y);
    const { hearing } = this.watch;
    if (hearing !== null && hearing.object === this.selected && this.why.textContent === '') {
      this.heard.textContent =
        `${this.watch.nameOf(hearing.object)} hears ${hearing.hearsAll}, heard by ${hearing.heardByAll}`;
    } else this.heard.textContent = '';
    const users = [...frame.places.keys()].filter((object) => this.watch.known.get(object)?.isUser).length;
    const nodes = new Set(this.watch.borders?.regions.map(({ node }) => node)).size;
    const shared = nodes > 1 ? ` at this one of ${nodes} servers` : '';
    this.numbers.textContent =
      `${frame.places.size} objects, ${users} clients${shared}, tick ${frame.tick}${this.timeline.isLive ? ', live'
      : ''}`;
  }

  /** Shows all of the world, between the bars. */
  private fit(low: Place, high: Place): void {
    const [top, bottom] = [this.bar.getBoundingClientRect().bottom, this.timeline.root.getBoundingClientRect().top];
    this.scale = Math.min((innerWidth - 2 * MARGIN) / (high.x - low.x), (bottom - top - 2 * MARGIN) / (high.z - low.z));
    this.scale = Math.min(Math.max(this.scale, ZOOM.least), ZOOM.most);
    this.center = { x: (low.x + high.x) / 2, z: (low.z + high.z) / 2
      + (innerHeight - top - bottom) / (2 * this.scale) };
  }

  /** The ground of the world, with a line every ten metres. */
  private drawGround(low: Place, high: Place, x: (at: number) => number, y: (at: number) => number): void {
    const { context } = this;
    context.fillStyle = '#1b2038';
    context.fillRect(x(low.x), y(low.z), x(high.x) - x(low.x), y(high.z) - y(low.z));
    context.strokeStyle = 'rgba(255, 255, 255, 0.055)';
    context.lineWidth = 1;
    context.beginPath();
    for (let at = Math.ceil(low.x / GRID) * GRID; at <= high.x; at += GRID) {
      context.moveTo(x(at), y(low.z));
      context.lineTo(x(at), y(high.z));
    }
    for (let at = Math.ceil(low.z / GRID) * GRID; at <= high.z; at += GRID) {
      context.moveTo(x(low.x), y(at));
      context.lineTo(x(high.x), y(at));
    }
    context.stroke();
    context.strokeStyle = 'rgba(255, 255, 255, 0.28)';
    context.strokeRect(x(low.x), y(low.z), x(high.x) - x(low.x), y(high.z) - y(low.z));
  }

  /** The occupied cells of the broad phase; fuller ones are stronger. */
  private drawCells(x: (at: number) => number, y: (at: number) => number): void {
    const { cells } = this.watch;
    if (cells === null) return;
    const { context } = this;
    const edge = (cells.edge / 1_024) * this.scale;
    context.strokeStyle = `${css(LAYERS.cell)}70`;
    context.lineWidth = 1;
    for (const [cell, inside] of cells.occupied) {
      const [column, row] = [cell % cells.counts[0], Math.floor(cell / cells.counts[0])];
      const [left, top] = [x((cells.low[0] + column * cells.edge) / 1_024),
        y((cells.low[1] + row * cells.edge) / 1_024)];
      context.fillStyle = `${css(LAYERS.cell)}${Math.min(24 + 14 * inside, 120).toString(16).padStart(2, '0')}`;
      context.fillRect(left, top, edge, edge);
      if (edge > 6) context.strokeRect(left, top, edge, edge);
    }
  }

  /** Which node of a cluster decides where: a box each, by hue, with its name; the one that is watched is filled. */
  private drawBorders(x: (at: number) => number, y: (at: number) => number): void {
    const { borders } = this.watch;
    if (borders === null || borders.regions.length < 2) return;
    const { context } = this;
    const nodes = nodesOf(borders);
    for (const { node, isOwn, low, high } of borders.regions) {
      const [left, top] = [x(low[0] / 1_024), y(low[1] / 1_024)];
      const [width, height] = [((high[0] - low[0]) / 1_024) * this.scale, ((high[1] - low[1]) / 1_024) * this.scale];
      const hue = hueOfNode(nodes, node);
      context.fillStyle = `${hue}${isOwn ? '24' : '0c'}`;
      context.fillRect(left, top, width, height);
      // On its own side of the border each, so that both hues are seen.
      context.strokeStyle = hue;
      context.lineWidth = 3;
      context.strokeRect(left + 2, top + 2, width - 4, height - 4);
    }
  }

  /** What each region is called, above all that is in it. */
  private nameRegions(x: (at: number) => number, y: (at: number) => number): void {
    const { borders } = this.watch;
    if (borders === null || borders.regions.length < 2) return;
    const { context } = this;
    const nodes = nodesOf(borders);
    context.font = '600 14px system-ui, sans-serif';
    context.textAlign = 'left';
    for (const { node, isOwn, low } of borders.regions) {
      const [left, top] = [x(low[0] / 1_024) + 10, y(low[1] / 1_024) + 10];
      const text = isOwn ? `${node} (watched)` : node;
      context.fillStyle = 'rgba(10, 12, 24, 0.82)';
      context.fillRect(left, top, context.measureText(text).width + 30, 24);
      context.fillStyle = hueOfNode(nodes, node);
      context.fillRect(left + 8, top + 7, 10, 10);
      context.fillStyle = '#f3efe9';
      context.fillText(text, left + 24, top + 17);
    }
  }

  /** Groups of those who hear each other: from the middle of each to its members, by hue, with its number. */
  private drawGroups(frame: Frame, x: (at: number) => number, y: (at: number) => number): void {
    const { context } = this;
    const groups = this.watch.groups?.groups ?? [];
    context.lineWidth = 1.5;
    context.font = '11px ui-monospace, monospace';
    context.textAlign = 'center';
    for (const { number, members } of groups) {
      const places = members.flatMap((member) => frame.places.get(member) ?? []);
      if (places.length < 6) continue;
      let [mx, mz] = [0, 0];
      for (let at = 0; at < places.length; at += 3) [mx, mz] =
        [mx + (3 * places[at]!) / places.length, mz + (3 * places[at + 2]!) / places.length];
      context.strokeStyle = context.fillStyle = css(hueOf(number + 1));
      context.beginPath();
      for (let at = 0; at < places.length; at += 3) {
        context.moveTo(x(mx), y(mz));
        context.lineTo(x(places[at]!), y(places[at + 2]!));
      }
      context.stroke();
      context.fillText(groupName(number), x(mx), y(mz) - 4);
    }
  }

  private drawStanding(x: (at: number) => number, y: (at: number) => number): void {
    const { context } = this;
    context.fillStyle = '#4b5382';
    for (const { shape, place } of this.watch.solids) {
      const [px, pz] = [place[0] / 1_024, place[2] / 1_024];
      if (shape.form === 'box') {
        const [hx, , hz] = shape.half;
        context.fillRect(x(px - hx), y(pz - hz), 2 * hx * this.scale, 2 * hz * this.scale);
      } else {
        context.beginPath();
        context.arc(x(px), y(pz), shape.radius * this.scale, 0, 2 * Math.PI);
        context.fill();
      }
    }
  }

  /** Auras of clients, and lines to whom each of them hears; of the selected one alone where there is one. */
  private drawHearing(frame: Frame, aura: number, x: (at: number) => number, y: (at: number) => number): void {
    const { context } = this;
    const listeners = [...frame.places]
      .filter(([object]) => (this.selected === null ? this.watch.known.get(object)?.isUser : object === this.selected));
    // The more there are, the fainter each: where many overlap, what is below can still be seen.
    const strength = Math.min(1, 6 / listeners.length);
    const faint = (most: number) => Math.round(4 + (most - 4) * strength).toString(16).padStart(2, '0');
    for (const [, [ax, , az]] of listeners.slice(0, 400)) {
      if (this.layers.auras) {
        context.fillStyle = `${css(LAYERS.aura)}${faint(0x16)}`;
        context.strokeStyle = `${css(LAYERS.aura)}90`;
        context.lineWidth = 1;
        context.beginPath();
        context.arc(x(ax), y(az), aura * this.scale, 0, 2 * Math.PI);
        context.fill();
        context.stroke();
      }
      if (!this.layers.pairs) continue;
      context.lineWidth = 1;
      context.strokeStyle = `${css(LAYERS.pair)}${faint(0x48)}`;
      context.beginPath();
      // Of the selected one the server says whom it hears; of the others the distance does.
      const { hearing } = this.watch;
      const heard = hearing !== null && hearing.object === this.selected && this.timeline.isLive
        ? new Set(hearing.hears) : null;
      for (const [object, [bx, , bz]] of frame.places) {
        if (heard === null ? Math.hypot(ax - bx, az - bz) > aura : !heard.has(object)) continue;
        context.moveTo(x(ax), y(az));
        context.lineTo(x(bx), y(bz));
      }
      context.stroke();
    }
  }

  private drawObjects(frame: Frame, x: (at: number) => number, y: (at: number) => number): void {
    const { context } = this;
    const colour = (known: Known | undefined) =>
      (known?.kind === 'Movable' ? '#b07b4a' : known?.kind === 'Mover' ? '#c9a15a' : known?.isUser ? css(AVATARS[0])
      : '#8ea0d8');
    const names: [string, number, number][] = [];
    for (const [object, [px, , pz]] of frame.places) {
      const [sx, sy] = [x(px), y(pz)];
      if (sx < -20 || sy < -20 || sx > innerWidth + 20 || sy > innerHeight + 20) continue;
      const known = this.watch.known.get(object);
      const radius = known === undefined ? 0.3 : known.shape.form === 'box' ? known.shape.half[0] : known.shape.radius;
      const size = Math.max(radius * this.scale, known?.isUser ? 4 : 2);
      context.fillStyle = colour(known);
      context.fillRect(sx - size, sy - size, 2 * size, 2 * size);
      if (known?.isUser || object === this.selected) {
        context.strokeStyle = object === this.selected ? css(LAYERS.predicted) : '#ffffff';
        context.lineWidth = object === this.selected ? 2 : 1;
        context.strokeRect(sx - size - 2, sy - size - 2, 2 * size + 4, 2 * size + 4);
        if (!this.layers.names || !known?.name) continue;
        const label: [string, number, number] = [known.name, sx, sy - size - 6];
        if (object === this.selected) names.unshift(label);
        else names.push(label);
      }
    }
    context.font = '13px system-ui, sans-serif';
    context.textAlign = 'center';
    const taken: { x: number; y: number; width: number }[] = [];
    for (const [name, sx, sy] of names.slice(0, 300)) {
      const width = context.measureText(name).width;
      // A name that would lie upon another is left out.
      if (taken.some((other) => Math.abs(other.x - sx) < (other.width + width) / 2 + 8
        && Math.abs(other.y - sy) < 17)) continue;
      taken.push({ x: sx, y: sy, width });
      context.fillStyle = 'rgba(10, 12, 24, 0.75)';
      context.fillRect(sx - width / 2 - 4, sy - 12, width + 8, 16);
      context.fillStyle = '#f3efe9';
      context.fillText(name, sx, sy);
    }
  }
}

/** By their order; clients have the first hue. */
const hueOfNode = (nodes: readonly string[], node: string): string =>
  css(AVATARS[1 + (nodes.indexOf(node) % (AVATARS.length - 1))]!);

/** The nodes of a cluster, always in the same order: by it they have their hues. */
const nodesOf = ({ regions }: Borders): string[] => [...new Set(regions.map(({ node }) => node))].sort();
