// Takes the pictures of the README: `npm run pictures`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';

import { Serving, bots, openBrowser, openPage, wait } from './serving.ts';

const folder = resolve(process.env['KINESPHERE_PICTURES'] ?? '../docs/pictures');
const wanted = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), 'kinesphere-'));
const server = await Serving.start(`--data ${data} --crowd 90`);
const company = bots(server.url, '--count 8 --behaviour wander --seconds 600');
const browser = await openBrowser();

async function open(path: string): Promise<Page> {
  const page = await openPage(browser, { viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(180_000);
  await page.goto(`${server.url}${path}`);
  return page;
}

/** Draws one frame for certain, then takes the picture. */
async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 86, timeout: 180_000 });
  console.log(`${name}.jpg`);
}

const enter = async (name: string): Promise<Page> => {
  const page = await open('/');
  await page.fill('#nickname', name);
  await page.click('#enter .go');
  await page.waitForFunction(() => (window as any).kinesphere.session?.client.isSceneWhole);
  await page.waitForFunction(() => (window as any).kinesphere.session.client.others.all.size > 20);
  return page;
};

try {
  if (wanted.length === 0 || wanted.includes('dialog')) {
    const page = await open('/');
    await page.evaluate(() => (document.querySelector<HTMLInputElement>('#nickname')!.value = 'Quiet Heron 27'));
    await wait(2_500);
    await take(page, 'page-dialog');
    await page.context().close();
  }
  if (wanted.length === 0 || wanted.includes('plaza')) {
    const page = await enter('Quiet Heron');
    await page.evaluate(() => {
      const { camera } = (window as any).kinesphere;
      Object.assign(camera, { yaw: 0.75, pitch: 0.2 });
      document.querySelector('#hint')?.classList.add('gone');
    });
    await page.keyboard.down('KeyW');
    await wait(1_500);
    await page.keyboard.up('KeyW');
    await wait(3_000);
    await take(page, 'page-plaza');
    await page.keyboard.press('i');
    await page.evaluate(() => Object.assign((window as any).kinesphere.camera, { pitch: 0.55, distance: 12 }));
    await page.mouse.move(660, 330);
    await wait(9_000);
    await take(page, 'page-inspector');
    await page.context().close();
  }
  if (wanted.length === 0 || wanted.includes('map')) {
    const page = await open('/map');
    await page.waitForFunction(() => (window as any).map.frame?.places.size > 50);
    await page.click('button:has-text("auras")');
    await page.click('button:has-text("pairs")');
    await wait(1_500);
    await page.click('[data-do=back]');
    await wait(2_500);
    await take(page, 'page-map');
    await page.context().close();
  }
} finally {
  company.kill();
  await browser.close();
  await server.end('SIGKILL');
  rmSync(data, { recursive: true, force: true });
}
