// Measures the page: `npm run bench`, or `npm run bench -- --json`; `--twin` needs neither browser nor server. The work
// per frame of the bench page, the way from a key to the own and to the other's picture, and what the page weighs.

import { gzipSync } from 'node:zlib';

import { Serving, Visitor, distance, openBrowser, openPage, wait } from './serving.ts';
import { compare } from './twin.ts';

const counts = [1_000, 10_000];
const isJson = process.argv.includes('--json');
const twin = [1_000, 4_000].map((avatars) => compare(avatars, 300));
if (process.argv.includes('--twin')) {
  console.log(JSON.stringify(twin, null, 2));
  process.exit();
}
const server = await Serving.start('e2e/room.toml --in-memory');
const browser = await openBrowser();
try {
  const rows = [];
  for (const avatars of counts) {
    const page = await openPage(browser);
    page.setDefaultTimeout(180_000);
    await page.goto(`${server.url}/bench`);
    rows.push(await page.evaluate(([avatars, frames]) => (window as any).measure(avatars, frames),
      [avatars, avatars > 5_000 ? 120 : 300]));
    await page.context().close();
    console.error(`measured ${avatars} avatars`);
  }
  const latency = await measureKeys();
  const weight = await weigh();
  const result = { parameters: { counts, browser: browser.version() }, rows, twin, latency, weight };
  if (isJson) console.log(JSON.stringify(result, null, 2));
  else {
    console.table(rows);
    console.table(twin);
    console.table([latency]);
    console.table([weight]);
  }
} finally {
  await browser.close();
  await server.end('SIGKILL');
}

/** From a key press to the own avatar's next picture, and to the confirmed move on the other page. Both pages share a
 * clock. */
async function measureKeys(): Promise<object> {
  const [ann, bob] = [await Visitor.enter(browser, server.url, 'Ann'), await Visitor.enter(browser, server.url, 'Bob')];
  const own: number[] = [];
  const others: number[] = [];
  for (let round = 0; round < 12; round++) {
    const before = await ann.standStill();
    const start = before.own;
    const name = 'Ann';
    await bob.until('knows where Ann stands', (seen) =>
      distance(seen.others.find((other) => other.name === name)!, start) === 0);
    const heard = bob.page.evaluate((name) => new Promise<number>((done) => {
      const { client } = (window as any).kinesphere.session;
      const other = [...client.others.all.values()].find((other: any) => other.entered.name === name) as any;
      const place = other.confirmed.place;
      const received = client.received.bind(client);
      client.received = (...told: any[]) => {
        received(...told);
        if (other.confirmed.place.some((steps: number, axis: number) => steps !== place[axis])) done(
          performance.timeOrigin + performance.now());
      };
    }), name);
    await wait(50);
    const moved = ann.page.evaluate((yaw) => new Promise<[number, number, number]>((done) => {
      const app = (window as any).kinesphere;
      app.camera.yaw = yaw;
      const { client } = app.session;
      const start = client.own.shown;
      let frames = 0;
      window.addEventListener('keydown', () => {
        const pressed = performance.timeOrigin + performance.now();
        const look = () => {
          frames += 1;
          const { shown } = client.own;
          if (Math.hypot(shown.x - start.x, shown.z - start.z) > 1e-4) done(
            [pressed, performance.timeOrigin + performance.now(), frames]);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }, { once: true });
    }), round % 2 === 0 ? 0 : Math.PI);
    await wait(50);
    await ann.page.keyboard.down('ArrowUp');
    const [pressed, shown, frames] = await moved;
    const told = await heard;
    await ann.page.keyboard.up('ArrowUp');
    console.error(`key ${round + 1} of 12`);
    own.push(frames);
    others.push(told - pressed);
    void shown;
  }
  await Promise.all([ann.close(), bob.close()]);
  const sorted = [...others].sort((a, b) => a - b);
  return {
    rounds: others.length,
    own_frames_most: Math.max(...own),
    own_frames_median: [...own].sort((a, b) => a - b)[Math.floor(own.length / 2)],
    other_ms_median: Number(sorted[Math.floor(sorted.length / 2)]!.toFixed(1)),
    other_ms_most: Number(sorted[sorted.length - 1]!.toFixed(1)),
  };
}

/** What a first visit loads, in bytes as they travel. */
async function weigh(): Promise<object> {
  const index = await (await fetch(server.url)).text();
  const names = [...index.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1]!);
  let bytes = gzipSync(index).length;
  for (const name of names) {
    const body = Buffer.from(await (await fetch(`${server.url}${name}`)).arrayBuffer());
    bytes += gzipSync(body, { level: 9 }).length;
  }
  return { files: names.length + 1, compressed_bytes: bytes };
}
