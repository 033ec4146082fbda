// One world, two servers and a witness: a page walks across the border, is sent on, and its user hardly notices.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';

import type { Region } from '../src/wire/operator.ts';
import { withCluster } from './cluster.ts';
import { Visitor, distance, lookAt, openBrowser, openPage } from './serving.ts';

/** An avatar this far beyond the border, in metres, has certainly crossed it. */
const BEYOND = 2.5;
const SPEED = 5;
let browser: Browser;

before(async () => {
  browser = await openBrowser();
});
after(async () => {
  await browser.close();
});

/** Which server decides where, as the map shows it; corners in metres. */
async function regions(map: Page): Promise<Region[]> {
  await map.waitForFunction(() => new Set((window as any).map.watch.borders?.regions.map((region: any) => region.node))
    .size === 2);
  const told = (await map.evaluate(() => (window as any).map.watch.borders.regions)) as Region[];
  const metres = ([x, z]: readonly [number, number]) => [x / 1_024, z / 1_024] as const;
  return told.map(({ node, isOwn, low, high }) => ({ node, isOwn, low: metres(low), high: metres(high) }));
}

const isWithin = ({ low, high }: Region, { x, z }: { x: number; z: number }, margin: number): boolean =>
  x >= low[0] + margin && x <= high[0] - margin && z >= low[1] + margin && z <= high[1] - margin;

/** What happened to a page since it was asked to note it. */
interface Noted {
  /** What the status said. */
  readonly texts: string[];
  /** Each time it came in: where it was confirmed last, when it had got there, and where it goes on. */
  readonly joins: { own: number; nickname: string; isResumed: boolean; last: { x: number; z: number }; seconds: number;
    place: number[]; server: string }[];
}

async function note(visitor: Visitor): Promise<void> {
  await visitor.page.evaluate(() => {
    const { session } = (window as any).kinesphere;
    const { client } = session;
    const noted: any = { texts: [], joins: [] };
    (window as any).noted = noted;
    const status = document.querySelector('#status')!;
    new MutationObserver(() => noted.texts.push(status.textContent))
      .observe(status, { childList: true, characterData: true, subtree: true });
    let moved = client.newestTick;
    const received = client.received.bind(client);
    client.received = (...told: any[]) => {
      const { welcome } = client;
      const last = client.own.confirmed.pos;
      received(...told);
      const seconds = ((client.newestTick - moved) * client.tickUs) / 1e6;
      const { pos } = client.own.confirmed;
      if (pos.x !== last.x || pos.z !== last.z) moved = client.newestTick;
      if (client.welcome === welcome) return;
      const { own, nickname, isResumed, place } = client.welcome;
      noted.joins.push({ own, nickname, isResumed, last, seconds, place, server: session.server ?? location.origin });
    };
  });
}

const noted = (visitor: Visitor): Promise<Noted> => visitor.page.evaluate(() => (window as any).noted);
const serverOf = (visitor: Visitor): Promise<string> =>
  visitor.page.evaluate(() => (window as any).kinesphere.session.server ?? location.origin);
const about = (visitor: Visitor) => visitor.page.evaluate(() => {
  const { session, placesBuilt } = (window as any).kinesphere;
  return { own: session.client.welcome.own as number, placesBuilt: placesBuilt as number,
    isBanner: !(document.querySelector('#banner') as HTMLElement).hidden };
});

test('who walks across the border of two servers is sent on, and goes on as who it was', async () => {
  await withCluster('e2e/field.toml --aura 8', async (one, two) => {
    const map = await openPage(browser);
    await map.goto(`${one.url}/map`);
    await regions(map);
    const [ann, bob] = [await Visitor.enter(browser, one.url, 'Ann'), await Visitor.enter(browser, two.url, 'Bob')];
    await note(ann);
    const { own } = await about(ann);
    const home = await serverOf(ann);
    for (let crossing = 1; crossing <= 2; crossing++) {
      const start = await ann.standStill();
      const from = await serverOf(ann);
      const to = from === one.url ? two.url : one.url;
      const all = await regions(map);
      const region = all.find(({ isOwn }) => (to === one.url) === isOwn)!;
      await lookAt(ann, start, { x: (region.low[0] + region.high[0]) / 2, z: (region.low[1] + region.high[1]) / 2 });
      await ann.page.keyboard.down('KeyW');
      const there = await ann.until(`is in the space of ${region.node}`,
        (seen) => seen.phase === 'joined' && isWithin(region, seen.own, BEYOND));
      await ann.page.keyboard.up('KeyW');
      assert.equal(there.transport, 'WebTransport');
      await ann.until('is at the other server', (seen) => seen.phase === 'joined');
      assert.equal(await serverOf(ann), to);

      const { joins, texts } = await noted(ann);
      // A busy machine may lose a connection by itself, and take it up again: that is no crossing.
      const crossings = joins.filter(({ server }, index) => server !== (joins[index - 1]?.server ?? home));
      assert.equal(crossings.length, crossing, JSON.stringify(joins));
      const { last, seconds, place, ...joined } = crossings.at(-1)!;
      assert.deepEqual(joined, { own, nickname: 'Ann', isResumed: true, server: to });
      // It walks on while its page is under way, and no faster than one can walk: the first server has stopped it, the
      // second goes on with it.
      const jump = distance(last, { x: place[0]! / 1_024, z: place[2]! / 1_024 });
      assert.ok(jump < SPEED * seconds + 0.3, `it was ${jump} m away from where it goes on ${seconds} s later`);
      assert.ok(texts.some((text) => text.includes('crossing')), `the status said ${JSON.stringify(texts)}`);
      assert.deepEqual(await about(ann), { own, placesBuilt: 1, isBanner: false },
        'nothing was built again, and all is said');

      const stood = await ann.standStill();
      await bob.until('sees Ann where she is', (seen) =>
        seen.others.some((other) => other.object === own && other.name === 'Ann' && distance(other, stood.own) < 0.05));
    }
    await regions(map);
    assert.ok(await bordersAreSeen(map), 'the border is not on the map');
    await Promise.all([ann.close(), bob.close(), map.context().close()]);
  });
});

/** Whether the picture differs with the borders from the one without. */
async function bordersAreSeen(map: Page): Promise<boolean> {
  return map.evaluate(() => {
    const operator = (window as any).map;
    const picture = (isOn: boolean) => {
      operator.layers.borders = isOn;
      operator.paint();
      return operator.context.getImageData(0, 0, operator.canvas.width, operator.canvas.height)
        .data as Uint8ClampedArray;
    };
    const [without, shown] = [picture(false), picture(true)];
    return without.filter((value, index) => Math.abs(value - shown[index]!) > 8).length > 400;
  });
}
