// The page with a thumb on a small screen, and with a gamepad.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';

import { Serving, Visitor, distance, openBrowser } from './serving.ts';

const ROOM = 'e2e/room.toml --in-memory';
/** A small phone, held upright. */
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
let browser: Browser;
let server: Serving;

before(async () => {
  browser = await openBrowser();
  server = await Serving.start(ROOM);
});
after(async () => {
  await browser.close();
  await server.end('SIGKILL');
});

/** Fingers on the glass, by number: all that are down are told each time. */
class Fingers {
  private readonly down = new Map<number, { x: number; y: number }>();

  private constructor(private readonly tell: (type: 'touchStart' | 'touchMove' | 'touchEnd', points: object[]) =>
    Promise<unknown>) {}

  static async on(page: Page): Promise<Fingers> {
    const session = await page.context().newCDPSession(page);
    return new Fingers((type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints } as never));
  }

  async put(id: number, x: number, y: number): Promise<void> {
    const type = this.down.has(id) ? 'touchMove' : 'touchStart';
    this.down.set(id, { x, y });
    await this.tell(type, this.points());
  }

  async lift(id: number): Promise<void> {
    this.down.delete(id);
    // A touch that is no longer reported has been lifted; `touchend` without touches ends all.
    await this.tell(this.down.size === 0 ? 'touchEnd' : 'touchMove', this.points());
  }

  private points(): object[] {
    return [...this.down].map(([id, { x, y }]) => ({ id, x, y }));
  }
}

async function middle(page: Page, selector: string): Promise<{ x: number; y: number }> {
  const box = await page.locator(selector).boundingBox();
  assert.ok(box !== null, `${selector} is not to be seen`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

const camera = (page: Page) =>
  page.evaluate(() => {
    const { yaw, pitch, distance } = (window as any).kinesphere.camera;
    return { yaw, pitch, distance } as { yaw: number; pitch: number; distance: number };
  });

test('thumbs walk, look, zoom, jump and hold', async () => {
  const visitor = await Visitor.enter(browser, server.url, 'Thumb', '', PHONE);
  const { page } = visitor;
  const fingers = await Fingers.on(page);
  const begin = await visitor.until('is in', () => true);
  await page.evaluate(() => ((window as any).kinesphere.camera.yaw = 0));
  const stick = await middle(page, '.stick.move');
  await fingers.put(1, stick.x, stick.y);
  await fingers.put(1, stick.x, stick.y - 50);
  await visitor.until('walks ahead', (seen) => seen.own.z > begin.own.z + 0.5);
  // Another finger looks around in the meantime.
  const before = await camera(page);
  await fingers.put(2, 180, 300);
  await fingers.put(2, 230, 300);
  await page.waitForFunction((yaw) => Math.abs((window as any).kinesphere.camera.yaw - yaw) > 0.2, before.yaw);
  await fingers.lift(2);
  await fingers.lift(1);
  const stood = await visitor.standStill();
  assert.ok(distance(stood.own, begin.own) > 0.5);
  assert.equal(await page.evaluate(() => Math.hypot(...(window as any).kinesphere.session.client.intent.velocity)), 0,
    'a thumb that is lifted wants nothing');

  const looked = await camera(page);
  const look = await middle(page, '.stick.look');
  await fingers.put(3, look.x, look.y);
  await fingers.put(3, look.x + 45, look.y);
  await page.waitForFunction((yaw) => (window as any).kinesphere.camera.yaw < yaw - 0.3, looked.yaw);
  await fingers.lift(3);
  await page.waitForFunction(() => (window as any).kinesphere.controls.lookStick.side === 0);

  const near = await camera(page);
  await fingers.put(4, 150, 300);
  await fingers.put(5, 210, 300);
  await fingers.put(4, 110, 300);
  await fingers.put(5, 250, 300);
  await page.waitForFunction((distance) => (window as any).kinesphere.camera.distance < 0.8 * distance, near.distance);
  const pinched = await camera(page);
  assert.equal(pinched.yaw, near.yaw, 'and do not turn the camera');
  await fingers.lift(4);
  await fingers.lift(5);

  const jump = await middle(page, '[data-do=jump]');
  const jumped = await noteJump(page, stood.own.y);
  await fingers.put(6, jump.x, jump.y);
  await jumped();
  await fingers.lift(6);
  await visitor.close();
});

test('on a screen of 360 pixels everything is within reach, and nothing covers anything', async () => {
  const visitor = await Visitor.open(browser, server.url, '', PHONE);
  const { page } = visitor;
  const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth
    || [...document.querySelectorAll('#enter form')].some((form) => form.scrollWidth > form.clientWidth));
  assert.equal(await isWide(), false, 'the dialog fits');
  const go = await page.locator('#enter .go').boundingBox();
  assert.ok(go !== null && go.y + go.height <= 740, 'the button to enter is seen without scrolling');
  await visitor.join('Small');
  await visitor.until('is in', (seen) => seen.phase === 'joined');
  assert.equal(await isWide(), false);
  const parts = ['#status', '#bar button', '.stick', '.touch-buttons button'];
  await coverNothing(page, parts);
  await page.tap('#bar button:has-text("Inspect")');
  await page.waitForSelector('.inspector:not([hidden])');
  await coverNothing(page, [...parts, '.inspector']);
  await page.tap('#bar button:has-text("Inspect")');
  await page.tap('#bar button:has-text("People")');
  await coverNothing(page, [...parts, '#users']);
  await page.tap('#bar button:has-text("Talk")');
  await page.waitForSelector('#chat input:not([hidden])');
  const input = await page.locator('#chat input').boundingBox();
  assert.ok(input !== null && input.x >= 0 && input.x + input.width <= 360 && input.width > 200, JSON.stringify(input));
  await visitor.close();

  const map = await (await browser.newContext(PHONE)).newPage();
  await map.goto(`${server.url}/map`);
  await map.waitForFunction(() => (window as any).map.frame !== null);
  assert.equal(await map.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, 'the map fits');
  await coverNothing(map, ['.map-bar', '.timeline']);
  await map.context().close();
});

for (const [width, height] of [[561, 700], [640, 360], [720, 500], [844, 390]] as const) {
  test(`on a touch screen of ${width} by ${height} pixels, too`, async () => {
    const visitor = await Visitor.enter(browser, server.url, `Touch ${width}`, '',
      { ...PHONE, viewport: { width, height } });
    const { page } = visitor;
    await page.tap('#bar button:has-text("Inspect")');
    await page.waitForSelector('.inspector:not([hidden])');
    await coverNothing(page, ['#status', '#bar button', '.stick', '.touch-buttons button', '.inspector']);
    await visitor.close();
  });
}

test('what is typed is not covered by the hint', async () => {
  const visitor = await Visitor.enter(browser, server.url, 'Typing', '', { viewport: { width: 640, height: 360 } });
  await visitor.page.waitForSelector('#hint:not([hidden])');
  await visitor.page.keyboard.press('t');
  await visitor.page.waitForSelector('#hint', { state: 'hidden' });
  await visitor.close();
});

/** Whether all of these are within the screen, and none is over another. */
async function coverNothing(page: Page, selectors: readonly string[]): Promise<void> {
  const boxes = await page.evaluate((selectors) => {
    const seen = selectors.flatMap((selector) => [...document.querySelectorAll(selector)]);
    return seen.map((part) => {
      const { left, right, top, bottom } = part.getBoundingClientRect();
      return { name: `${part.className || part.tagName} ${part.textContent?.slice(0, 20)}`, left, right, top, bottom };
    });
  }, selectors);
  const [width, height] = [page.viewportSize()!.width, page.viewportSize()!.height];
  boxes.forEach((a, index) => {
    assert.ok(a.left >= 0 && a.right <= width && a.top >= 0 && a.bottom <= height && a.right > a.left,
      `${a.name} is not within the screen: ${JSON.stringify(a)}`);
    for (const b of boxes.slice(index + 1)) {
      assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top,
        `${a.name} and ${b.name} cover each other: ${JSON.stringify([a, b])}`);
    }
  });
}

/** Notes whether the server confirms a jump, from now on: on a slow machine it is over before anybody looks. Gives what
 * waits for it. */
async function noteJump(page: Page, y: number): Promise<() => Promise<unknown>> {
  await page.evaluate((y) => {
    const { client } = (window as any).kinesphere.session;
    const received = client.received.bind(client);
    client.received = (...told: any[]) => {
      received(...told);
      if (client.own.confirmed.pos.y > y + 0.1) (window as any).hasJumped = true;
    };
  }, y);
  return () => page.waitForFunction(() => (window as any).hasJumped);
}

test('a gamepad walks, looks, jumps and holds, and is felt at contact', async (context) => {
  // A room of its own: the first who comes has the crate within reach.
  const room = await Serving.start(ROOM);
  context.after(() => room.end('SIGKILL'));
  const visitor = await Visitor.open(browser, room.url);
  const { page } = visitor;
  await page.addInitScript(() => {
    const button = () => ({ pressed: false, touched: false, value: 0 });
    const pad = { axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, button),
      vibrationActuator: { playEffect: (type: string, effect: any) =>
      (felt.push({ type, ...effect }), Promise.resolve('complete')) } };
    const felt: any[] = [];
    Object.assign(window, { pad, felt });
    // As browsers do it: four places, of which the pad need not have the first.
    navigator.getGamepads = () => [null, pad as unknown as Gamepad, null, null];
  });
  await page.reload();
  await visitor.join('Pad');
  const begin = await visitor.until('is in', (seen) => seen.phase === 'joined' && seen.tick > 0);
  // The page looks at the pad once per frame: what lasts for less is not seen.
  const press = (index: number, pressed: boolean) =>
    page.evaluate(
      ([index, pressed]) => {
        (window as any).pad.buttons[index as number].pressed = pressed;
        return new Promise((seen) =>
          requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(seen))));
      },
      [index, pressed] as const,
    );
  const axes = (list: number[]) => page.evaluate((list) => ((window as any).pad.axes = list), list);

  const jumped = await noteJump(page, begin.own.y);
  await press(0, true);
  await jumped();
  await press(0, false);
  const { yaw } = await camera(page);
  await axes([0.1, 0.1, 1, 0]);
  await page.waitForFunction((yaw) => (window as any).kinesphere.camera.yaw < yaw - 0.3, yaw);
  await axes([0, 0, 0, 0]);
  const stood = await visitor.standStill();
  assert.ok(distance(stood.own, begin.own) < 0.01, 'a stick that rests moves nobody, nor does one that is worn');

  await page.waitForFunction(() => document.querySelector('#prompt')?.textContent?.includes('takes hold'));
  await press(2, true);
  await visitor.until('holds the crate', (seen) => seen.held !== null);
  await press(2, false);
  await press(2, true);
  await visitor.until('lets go', (seen) => seen.held === null);
  await press(2, false);

  // Towards the wall, beside the crate.
  await page.evaluate(() => {
    (window as any).felt.length = 0;
    (window as any).kinesphere.camera.yaw = Math.PI;
  });
  await axes([0, -1, 0, 0]);
  await visitor.until('reaches the wall or the crate', (seen) => seen.own.z < -0.2);
  await page.waitForFunction(() => (window as any).felt.length > 0);
  const felt = (await page.evaluate(() => (window as any).felt[0])) as { type: string; strongMagnitude: number;
    duration: number };
  assert.ok(felt.type === 'dual-rumble' && felt.strongMagnitude > 0 && felt.strongMagnitude <= 1 && felt.duration > 0,
    JSON.stringify(felt));
  await visitor.close();
});

test('after a click on a button Space jumps, and a button that was reached by keys is pressed by them', async () => {
  const visitor = await Visitor.enter(browser, server.url, 'Mouse', '', { viewport: { width: 800, height: 270 } });
  const { page } = visitor;
  const begin = await visitor.standStill();
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  const pressed = () => page.getAttribute('#bar button:has-text("People")', 'aria-pressed');
  const before = await pressed();
  await page.click('#bar button:has-text("People")');
  await page.waitForFunction(() => document.activeElement === document.body);
  const after = await pressed();
  assert.notEqual(after, before);
  const jumped = await noteJump(page, begin.own.y);
  await page.keyboard.press('Space');
  await jumped();
  assert.equal(await pressed(), after, 'it was not pressed again');

  await page.focus('#bar button:has-text("People")');
  await page.keyboard.press('Space');
  assert.equal(await pressed(), before);
  assert.equal(await focused(), 'People', 'and keeps the focus');

  await page.click('#bar button:has-text("Inspect")');
  await page.click('.inspector .layers label');
  await page.waitForFunction(() => document.activeElement === document.body);
  await visitor.close();
});
