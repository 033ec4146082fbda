// Takes the pictures of the README: `npm run pictures`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';

import { withCluster } from './cluster.ts';
import { Serving, bots, openBrowser, openPage, wait } from './serving.ts';

const folder = resolve(process.env['KINESPHERE_PICTURES'] ?? '../docs/pictures');
/** However slowly a software renderer draws, nothing is left out. */
const FULL = '/?quality=high';
const wanted = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), 'kinesphere-'));
const server = await Serving.start(`--data ${data} --crowd 90`);
const company = bots(server.url, '--count 16 --behaviour seek --name guest --seconds 900');
const browser = await openBrowser();

const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);

async function open(path: string, from = server): Promise<Page> {
  const page = await openPage(browser, { viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(180_000);
  await from.trust(page);
  await page.goto(`${from.url}${path}`);
  return page;
}

/** Draws one frame for certain, then takes the picture. */
async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 86, timeout: 180_000 });
  console.log(`${name}.jpg`);
}

const enter = async (name: string): Promise<Page> => {
  const page = await open(FULL);
  await page.fill('#nickname', name);
  await page.click('#enter .go');
  await page.waitForFunction(() => (window as any).kinesphere.session?.client.isSceneWhole);
  await page.waitForFunction(() => (window as any).kinesphere.session.client.others.all.size > 20);
  return page;
};

/** Walks somewhere, and stays there. */
async function walkTo(page: Page, x: number, z: number): Promise<void> {
  await page.keyboard.down('KeyW');
  for (let look = 0; look < 120; look++) {
    const left = await page.evaluate(([x, z]) => {
      const { camera, session } = (window as any).kinesphere;
      const at = session.client.own.shown;
      camera.yaw = Math.atan2(x! - at.x, z! - at.z);
      return Math.hypot(x! - at.x, z! - at.z);
    }, [x, z]);
    if (left < 1.5) break;
    await wait(100);
  }
  await page.keyboard.up('KeyW');
}

/** Turns to where most people are near, and a little further. */
async function lookAtCompany(page: Page, further = 0): Promise<void> {
  await page.evaluate((further) => {
    const { camera, session } = (window as any).kinesphere;
    const at = session.client.own.shown;
    const near = [...session.client.others.all.values()]
      .filter((other: any) => other.entered.kind === 'Avatar' && Math.hypot(other.x - at.x, other.z - at.z) < 16);
    const within = (yaw: number) =>
      near.filter((other: any) => Math.cos(Math.atan2(other.x - at.x, other.z - at.z) - yaw) > 0.8).length;
    const yaws = Array.from({ length: 36 }, (_, index) => (index / 18) * Math.PI);
    Object.assign(camera, { yaw: yaws.sort((a, b) => within(b) - within(a))[0]! + further });
    if (further === 0) Object.assign(camera, { pitch: 0.22, distance: 6 });
  }, further);
  await wait(2_500);
}

/** Puts the pointer on the nearest user right of the inspector's panel. */
async function pointAtSomebody(page: Page): Promise<void> {
  const [x, y] = await page.evaluate(() => {
    const { stage, session } = (window as any).kinesphere;
    const at = session.client.own.shown;
    const seen = [...session.client.others.all.values()].filter((other: any) => other.entered.kind === 'Avatar')
      .map((other: any) => {
      const { x, y } = stage.camera.position.clone().set(other.x, other.y, other.z).project(stage.camera);
      return { x: (0.5 + 0.5 * x) * innerWidth, y: (0.5 - 0.5 * y) * innerHeight,
        away: Math.hypot(other.x - at.x, other.z - at.z) };
    });
    const best = seen.filter(({ x, y }) => x > 340 && x < 1_000 && y > 100 && y < 640)
      .sort((a, b) => a.away - b.away)[0];
    return best === undefined ? [660, 330] : [best.x, best.y];
  });
  await page.mouse.move(x!, y!);
  await wait(2_500);
}

try {
  if (isWanted('dialog')) {
    const page = await open(FULL);
    await page.evaluate(() => (document.querySelector<HTMLInputElement>('#nickname')!.value = 'Quiet Heron 27'));
    await wait(2_500);
    await take(page, 'page-dialog');
    await page.context().close();
  }
  if (isWanted('plaza')) {
    const page = await enter('Quiet Heron');
    await page.evaluate(() => document.querySelector('#hint')?.classList.add('gone'));
    await walkTo(page, 7, 8);
    await lookAtCompany(page);
    await take(page, 'page-plaza');
    await page.keyboard.press('i');
    await page.evaluate(() => Object.assign((window as any).kinesphere.camera, { pitch: 0.5, distance: 11 }));
    await wait(9_000);
    await lookAtCompany(page, -0.35);
    await pointAtSomebody(page);
    await take(page, 'page-inspector');
    await page.context().close();
  }
  if (isWanted('map')) {
    const page = await open('/map');
    await page.waitForFunction(() => (window as any).map.frame?.places.size > 50);
    await page.click('button:has-text("auras")');
    await page.click('button:has-text("pairs")');
    await wait(2_500);
    await take(page, 'page-map');
    await page.context().close();
  }
  if (isWanted('cluster')) {
    await withCluster('--crowd 90', async (one) => {
      const guests = bots(one.url, '--count 16 --behaviour seek --name guest --seconds 900');
      try {
        const page = await open('/map', one);
        await page.waitForFunction(() => (window as any).map.watch.borders?.regions.length > 1 && (window as any)
          .map.frame?.places.size > 50);
        await wait(4_000);
        await take(page, 'page-cluster');
        await page.context().close();
      } finally {
        guests.kill();
      }
    });
  }
} finally {
  company.kill();
  await browser.close();
  await server.end('SIGKILL');
  rmSync(data, { recursive: true, force: true });
}
