// Servers and browsers for tests: the binary as a stranger starts it, and Debian's Chromium.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Browser, type BrowserContextOptions, type Page, type Route, chromium } from 'playwright-core';

/** Nothing here takes long; a test that waits this long has failed. On a machine that is busy with other things, say
 * more. */
export const PATIENCE_MS = Number(process.env['KINESPHERE_PATIENCE_MS'] ?? 40_000);

export const binary = resolve(process.env['KINESPHERE_BIN'] ?? '../target/debug/kinesphere');
/** With `KINESPHERE_DIST=dist` the page comes from there, so that work on it needs no build of the server. */
const dist = process.env['KINESPHERE_DIST'];
const chromiumPath =
  process.env['KINESPHERE_CHROMIUM'] ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
    .find((path) => existsSync(path));

export class Serving {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly operatorToken: string,
  ) {}

  /** Starts a server with these arguments, separated by spaces. */
  static async start(args: string, listen = '127.0.0.1:0'): Promise<Serving> {
    const child = spawn(binary, ['serve', '--listen', listen, ...args.split(' ').filter((word) => word !== '')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    let logged = '';
    child.stderr.on('data', (data: Buffer) => (logged = (logged + data.toString()).slice(-4_000)));
    await new Promise<void>((done, fail) => {
      child.stdout.on('data', (data: Buffer) => {
        printed += data.toString();
        if (/token:? \S+/.test(printed)) done();
      });
      child.on('exit', () => fail(new Error(`the server does not start: ${logged}`)));
    });
    const address = /http=(\S+)/.exec(printed)?.[1];
    const token = /token:? (\S+)/.exec(printed)?.[1];
    if (address === undefined || token === undefined) throw new Error(`it printed ${printed}`);
    return new Serving(child, `http://${address}`, token);
  }

  get address(): string {
    return this.url.replace('http://', '');
  }

  /** As Ctrl-C does, or as `kill -9` does. */
  async end(signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill(signal);
    await ended;
  }

  async metrics(): Promise<Map<string, number>> {
    const text = await (await fetch(`http://${this.address}/metrics`)).text();
    const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(rows.map((row) =>
      [row.slice(0, row.lastIndexOf(' ')), Number(row.slice(row.lastIndexOf(' ') + 1))]));
  }
}

/** Runs bots against a server, until they are stopped. */
export function bots(url: string, args: string): ChildProcess {
  return spawn(binary, ['bots', url, ...args.split(' ')], { stdio: 'ignore' });
}

export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium; Debian has the package "chromium"');
  return chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--use-gl=angle',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--disable-renderer-backgrounding',
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      // A page that comes from a file would be taken for one from outside.
      ...(dist === undefined ? [] : ['--disable-features=LocalNetworkAccessChecks']),
    ],
  });
}

/** A page in a window of its own; small, if nothing else is said: a software renderer has to draw it. */
export async function openPage(browser: Browser, device: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 480, height: 270 }, ...device });
  if (dist !== undefined) await context.route(/^http:\/\/[^/]+\/($|\?|map|bench|assets\/)/, fromDist);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

/** What is in `dist`, under the server's own policy. */
async function fromDist(route: Route): Promise<void> {
  const { pathname } = new URL(route.request().url());
  const name = pathname === '/' ? 'index.html' : pathname.startsWith('/assets/') ? pathname.slice(1)
    : `${pathname.slice(1)}.html`;
  const policy = (await (await fetch(new URL('/', route.request().url()))).headers.get('content-security-policy'))
    ?? '';
  await route.fulfill({ path: resolve(dist!, name),
    headers: { 'content-security-policy': policy, 'content-type': typeOf(name) } });
}

const typeOf = (name: string): string =>
  (name.endsWith('.html') ? 'text/html' : name.endsWith('.css') ? 'text/css' : 'text/javascript');

/** What the page knows, as tests ask for it. */
export interface Seen {
  readonly phase: string;
  readonly transport: string | null;
  readonly tick: number;
  readonly own: { x: number; y: number; z: number };
  readonly shown: { x: number; y: number; z: number };
  readonly held: number | null;
  readonly others: { object: number; name: string; kind: string; tick: number; x: number; y: number; z: number;
    form: string; radius: number }[];
}

/** A page with a user in it. */
export class Visitor {
  private constructor(readonly page: Page) {}

  /** Opens a page of its own, and a plain one. */
  static async open(browser: Browser, url: string, query = '', device: BrowserContextOptions = {}): Promise<Visitor> {
    const page = await openPage(browser, device);
    await page.goto(`${url}/?quality=low&${query}`);
    return new Visitor(page);
  }

  static async enter(browser: Browser, url: string, name: string, query = '',
    device: BrowserContextOptions = {}): Promise<Visitor> {
    const visitor = await Visitor.open(browser, url, query, device);
    await visitor.join(name);
    await visitor.until('is in', (seen) => seen.phase === 'joined' && seen.tick > 0);
    return visitor;
  }

  async join(name: string): Promise<void> {
    await this.page.fill('#nickname', name);
    await this.page.click('#enter .go');
  }

  async seen(): Promise<Seen | null> {
    return this.page.evaluate(() => {
      const { session } = (window as any).kinesphere;
      const client = session?.client;
      if (!client?.own) return null;
      const others = [...client.others.all.values()].map((other: any) => {
        const { object, name, kind, shape } = other.entered;
        const [x, y, z] = other.confirmed.place.map((steps: number) => steps / 1024);
        return { object, name, kind, tick: other.confirmed.tick, x, y, z, form: shape.form, radius: shape.radius ?? 0 };
      });
      const { phase, newestTick, held } = client;
      return { phase, transport: session.transport, tick: newestTick, own: client.own.confirmed.pos,
        shown: client.own.shown, held, others };
    });
  }

  /** Looks again and again, until it holds. */
  async until(what: string, holds: (seen: Seen) => boolean): Promise<Seen> {
    const begun = Date.now();
    for (;;) {
      const seen = await this.seen();
      if (seen !== null && holds(seen)) return seen;
      if (Date.now() - begun > PATIENCE_MS) throw new Error(
        `in vain waited until it ${what}; seen: ${JSON.stringify(seen)}; wanted: ${await this.wanted()}`);
      await new Promise((done) => setTimeout(done, 30));
    }
  }

  /** Waits until the server has confirmed the same place for a while. */
  async standStill(): Promise<Seen> {
    let last = await this.until('is somewhere', () => true);
    let since = last.tick;
    return this.until('stands', (seen) => {
      if (distance(seen.own, last.own) > 0) [last, since] = [seen, seen.tick];
      return seen.tick - since > 12 && distance(seen.own, seen.shown) < 0.02;
    });
  }

  /** Prints what the page asks for, to find out why nothing happens. */
  private wanted(): Promise<string> {
    return this.page.evaluate(() => {
      const { session, controls, frames } = (window as any).kinesphere;
      const dialog = document.querySelector('#enter .error')?.textContent;
      return JSON.stringify(
        { intent: session?.client.intent, keys: [...controls.held], frames, dialog, counts: session?.client.counts });
    });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

export const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
export const distance = (a: { x: number; z: number }, b: { x: number; z: number }): number =>
  Math.hypot(a.x - b.x, a.z - b.z);

/** Lets a visitor look from where it stands towards a place. */
export async function lookAt(visitor: Visitor, seen: Seen, at: { x: number; z: number }): Promise<void> {
  const yaw = Math.atan2(at.x - seen.own.x, at.z - seen.own.z);
  await visitor.page.evaluate((yaw) => ((window as any).kinesphere.camera.yaw = yaw), yaw);
}
