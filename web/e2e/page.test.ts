// The page as people meet it, in a real browser: two of them, a bot, walls, a crate, a server that restarts, an
// operator.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';

import { type Seen, Serving, Visitor, bots, distance, lookAt, openBrowser, openPage, wait } from './serving.ts';

const ROOM = 'e2e/room.toml';
const RADIUS = 0.3;
let browser: Browser;

before(async () => {
  browser = await openBrowser();
});
after(async () => {
  await browser.close();
});

/** Runs a test with a server that ends with it. */
async function withServer(args: string, run: (server: Serving) => Promise<void>, listen?: string): Promise<void> {
  const server = await Serving.start(args, listen);
  try {
    await run(server);
  } finally {
    await server.end('SIGKILL');
  }
}

const other = (seen: Seen, name: string) => seen.others.find((other) => other.name === name);

test('two pages and a bot meet: over WebTransport and WebSocket, by name, and a key moves the other’s picture',
  async () => {
  await withServer(`${ROOM} --in-memory`, async (server) => {
    const company = bots(server.url, '--count 1 --behaviour wander --seconds 60');
    try {
      // The server has one of the two addresses that a browser knows localhost by.
      const localhost = server.url.replace('127.0.0.1', 'localhost');
      const [ann, bob] = await Promise.all(
        [Visitor.enter(browser, localhost, 'Ann'), Visitor.enter(browser, server.url, 'Bob', 'transport=websocket')]);
      const before = await ann.until('sees Bob and the bot',
        (seen) => other(seen, 'Bob') !== undefined && seen.others.filter((other) => other.kind === 'Avatar')
        .length >= 2);
      await bob.until('sees Ann', (seen) => other(seen, 'Ann') !== undefined);
      assert.equal(before.transport, 'WebTransport');
      assert.equal((await bob.seen())!.transport, 'WebSocket');
      // A ping leaves in the same turn as an input: it must not be dropped for that.
      for (const visitor of [ann, bob]) await visitor.page.waitForFunction(() => (window as any)
        .kinesphere.session.client.hasPong);
      await bob.page.waitForFunction(() => [...document.querySelectorAll('#users li')]
        .some((row) => row.textContent === 'Ann'));

      const start = other((await bob.seen())!, 'Ann')!;
      await lookAt(ann, before, { x: before.own.x, z: 9 });
      await ann.page.keyboard.down('ArrowUp');
      await bob.until('sees Ann walk', (seen) => distance(other(seen, 'Ann')!, start) > 0.5);
      await ann.page.keyboard.up('ArrowUp');
      const mine = await ann.standStill();
      await bob.until('agrees where Ann is', (seen) => distance(mine.own, other(seen, 'Ann')!) === 0);

      await ann.page.keyboard.press('t');
      await ann.page.keyboard.type('Good evening');
      await ann.page.keyboard.press('Enter');
      await bob.page.waitForFunction(() => document.querySelector('#chat')?.textContent?.includes('Good evening'));
      await Promise.all([ann.close(), bob.close()]);
    } finally {
      company.kill();
    }
  });
});

test('walls and people stop or divert, and nothing ever overlaps in confirmed states', async () => {
  await withServer(`${ROOM} --in-memory`, async (server) => {
    const [ann, bob] = await Promise.all(
      [Visitor.enter(browser, server.url, 'Ann'), Visitor.enter(browser, server.url, 'Bob')]);
    // Every confirmed state that reaches the page, from now on.
    await ann.page.evaluate(() => {
      const { client } = (window as any).kinesphere.session;
      const states: any[] = [];
      (window as any).states = states;
      const confirm = client.own.confirm.bind(client.own);
      client.own.confirm = (walker: any, ...rest: any[]) => {
        states.push(walker.pos);
        confirm(walker, ...rest);
      };
    });
    const start = await ann.until('sees Bob', (seen) => other(seen, 'Bob') !== undefined);
    const still = other(start, 'Bob')!;
    await lookAt(ann, start, still);
    await ann.page.keyboard.down('KeyW');
    const touching = await ann.until('touches Bob', (seen) => distance(seen.own, other(seen, 'Bob')!) < 2 * RADIUS
      + 0.1);
    await wait(500);
    await ann.page.keyboard.up('KeyW');
    const states = (await ann.page.evaluate(() => (window as any).states)) as { x: number; y: number; z: number }[];
    assert.ok(states.length > 5);
    const moved = other((await ann.seen())!, 'Bob')!;
    assert.ok(distance(still, moved) < 0.01, 'nobody is pushed away');
    for (const state of states) assert.ok(distance(state, still) >= 2 * RADIUS,
      `${JSON.stringify(state)} overlaps Bob at ${JSON.stringify(still)}`);

    await lookAt(ann, touching, { x: touching.own.x - 0.3, z: -30 });
    await ann.page.keyboard.down('KeyW');
    await ann.until('reaches the wall', (seen) => seen.own.z < -5.75 + RADIUS + 0.05);
    const met = (await ann.seen())!;
    await wait(700);
    await ann.page.keyboard.up('KeyW');
    const slid = (await ann.seen())!;
    assert.ok(slid.own.z >= -5.75 + RADIUS, 'the wall holds');
    assert.ok(slid.own.x < met.own.x, 'one slides along it');
    const all = (await ann.page.evaluate(() => (window as any).states)) as { x: number; z: number }[];
    for (const state of all) assert.ok(Math.abs(state.x) > 6 || state.z >= -5.75 + RADIUS,
      `${JSON.stringify(state)} is in the wall`);
    await Promise.all([ann.close(), bob.close()]);
  });
});

test('of two who grab at once exactly one gets it, and lets go again', async () => {
  await withServer(`${ROOM} --in-memory`, async (server) => {
    const visitors = await Promise.all(['Ann', 'Bob'].map((name) => Visitor.enter(browser, server.url, name)));
    await Promise.all(visitors.map((visitor) =>
      visitor.until('sees the crate', (seen) => other(seen, 'crate') !== undefined)));
    await Promise.all(visitors.map((visitor) =>
      visitor.page.waitForFunction(() => document.querySelector('#prompt')?.textContent?.includes('takes hold'))));
    await Promise.all(visitors.map((visitor) => visitor.page.keyboard.press('e')));
    await wait(600);
    const held = await Promise.all(visitors.map(async (visitor) => (await visitor.seen())!.held));
    assert.equal(held.filter((object) => object !== null).length, 1, `held: ${held}`);
    const [one, none] = held[0] !== null ? visitors : [visitors[1], visitors[0]];
    const start = other((await none!.seen())!, 'crate')!;
    await lookAt(one!, (await one!.seen())!, { x: 0, z: 9 });
    await one!.page.keyboard.down('KeyW');
    await one!.until('walks', (seen) => seen.own.z > 0.3);
    await none!.until('sees the crate carried', (seen) => distance(other(seen, 'crate')!, start) > 0.4);
    await one!.page.keyboard.up('KeyW');
    await one!.page.keyboard.press('e');
    await one!.until('lets go', (seen) => seen.held === null);
    await Promise.all(visitors.map((visitor) => visitor.close()));
  });
});

test('after a reload and after a restart of the server everybody is where they stood', async () => {
  const data = mkdtempSync(join(tmpdir(), 'kinesphere-'));
  try {
    const first = await Serving.start(`${ROOM} --data ${data} --resume-seconds 120`);
    const [ann, bob] = await Promise.all(
      [Visitor.enter(browser, first.url, 'Ann'), Visitor.enter(browser, first.url, 'Bob', 'transport=websocket')]);
    const object = (visitor: Visitor) =>
      visitor.page.evaluate(() => (window as any).kinesphere.session?.client.welcome?.own as number);
    const begin = await ann.until('is in', () => true);
    await lookAt(ann, begin, { x: begin.own.x, z: 9 });
    await ann.page.keyboard.down('ArrowUp');
    await ann.until('has walked', (seen) => distance(seen.own, begin.own) > 1);
    await ann.page.keyboard.up('ArrowUp');
    const stood = await ann.standStill();
    const own = await object(ann);
    await ann.page.reload();
    const back = await ann.until('is in again', (seen) => seen.phase === 'joined');
    assert.equal(await object(ann), own, 'the same avatar');
    assert.ok(distance(back.own, stood.own) < 0.01);

    const bobStood = await bob.standStill();
    await ann.page.keyboard.press('u');
    await ann.page.keyboard.press('t');
    await ann.page.keyboard.type('Still here');
    await first.end('SIGINT');
    await ann.page.waitForSelector('#banner:not([hidden])');
    await ann.page.keyboard.press('Enter');
    const chat = () => ann.page.evaluate(() => {
      const input = document.querySelector<HTMLInputElement>('#chat input')!;
      return [input.value, document.activeElement === input, document.querySelector<HTMLElement>('#users')!.hidden];
    });
    assert.deepEqual(await chat(), ['Still here', true, false], 'what nobody hears is kept');
    const second = await Serving.start(`${ROOM} --data ${data} --resume-seconds 120`, first.address);
    try {
      const [annBack, bobBack] =
        await Promise.all([ann, bob]
        .map((visitor) => visitor.until('comes back', (seen) => seen.phase === 'joined' && seen.transport !== null)));
      assert.ok(distance(annBack!.own, stood.own) < 0.01 && distance(bobBack!.own, bobStood.own) < 0.01);
      assert.equal(await object(ann), own);
      assert.deepEqual(await chat(), ['Still here', true, false], 'whoever comes back goes on typing');
      await ann.page.keyboard.press('Enter');
      await bob.page.waitForFunction(() => document.querySelector('#chat')?.textContent?.includes('Still here'));
      await Promise.all([ann.close(), bob.close()]);
    } finally {
      await second.end('SIGKILL');
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});

test('a bad nickname and a full server are answered with sentences', async () => {
  await withServer(`${ROOM} --in-memory --clients-max 1`, async (server) => {
    const visitor = await Visitor.open(browser, server.url);
    const error = () => visitor.page.waitForFunction(() => document.querySelector('#enter .error')?.textContent || null)
      .then((handle) => handle.jsonValue());
    await visitor.join('   ');
    assert.match((await error()) as string, /nickname|name/i);
    await visitor.join('Ann');
    await visitor.until('is in', (seen) => seen.phase === 'joined');
    const second = await Visitor.open(browser, server.url);
    await second.join('Bob');
    const full = await second.page.waitForFunction(() => document.querySelector('#enter .error')?.textContent || null);
    assert.match((await full.jsonValue()) as string, /full|at most|1 /i);
    await Promise.all([visitor.close(), second.close()]);
  });
});

test('the inspector’s layers appear, its numbers are the server’s, and no request goes elsewhere', async () => {
  await withServer('--in-memory --crowd 12', async (server) => {
    const visitor = await Visitor.open(browser, server.url);
    const hosts = new Set<string>();
    visitor.page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await visitor.page.reload();
    await visitor.join('Ann');
    await visitor.until('hears the crowd', (seen) => seen.others.length > 5);
    await visitor.page.click('#bar button:has-text("Inspect")');
    await visitor.page.waitForFunction(() => Number(document.querySelector('[data-number=objects]')?.textContent) > 0);
    const [shown, metrics] = await Promise.all([
      visitor.page.evaluate(() => ['users', 'objects']
        .map((name) => Number(document.querySelector(`[data-number=${name}]`)?.textContent))),
      server.metrics(),
    ]);
    assert.deepEqual(shown, [metrics.get('kinesphere_users'), metrics.get('kinesphere_objects')]);
    // On the server's own machine one is an operator: what the engine does is told, and who hears whom.
    const company = bots(server.url, '--count 3 --behaviour crowd --seconds 120');
    try {
      await visitor.page.evaluate(() =>
        Object.assign((window as any).kinesphere.inspector.layers.isOn, { group: true, cell: true }));
      await visitor.page.waitForFunction(() => {
        const { watch, layers } = (window as any).kinesphere.inspector;
        return watch.groups?.groups.some((group: any) => group.members.length > 2) && layers.counts.group > 0
          && watch.cells?.occupied.length > 5;
      });
      const hearing = (await visitor.page.evaluate(() => {
        const { session, inspector } = (window as any).kinesphere;
        return { own: session.client.welcome.own, heard: session.client.others.all.size,
          hearing: inspector.watch.hearing };
      })) as { own: number; heard: number; hearing: { object: number; hearsAll: number; heardByAll: number } | null };
      assert.ok(hearing.hearing !== null && hearing.hearing.hearsAll > 0, JSON.stringify(hearing));
      assert.ok(await pixelsDiffer(visitor.page, 'group'), 'groups are not to be seen');
    } finally {
      company.kill();
    }
    for (const layer of ['aura', 'predicted', 'confirmed', 'cell', 'relation', 'pair']) {
      assert.ok(await pixelsDiffer(visitor.page, layer), `${layer} is not to be seen`);
    }
    assert.deepEqual([...hosts], [server.address]);
    await visitor.close();
  });
});

/** Whether the picture of one moment differs with one layer from the picture without any. */
async function pixelsDiffer(page: Page, layer: string): Promise<boolean> {
  return page.evaluate((layer) => {
    const app = (window as any).kinesphere;
    const { stage, inspector } = app;
    const picture = () => {
      inspector.layers.draw(app.session.client, inspector.watch);
      stage.draw(stage.camera.position);
      const gl = stage.renderer.getContext();
      const pixels = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
      gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      return pixels;
    };
    const isOn = { ...inspector.layers.isOn };
    for (const name of Object.keys(isOn)) inspector.layers.isOn[name] = false;
    const without = picture();
    inspector.layers.isOn[layer] = true;
    const shown = picture();
    Object.assign(inspector.layers.isOn, isOn);
    return without.filter((value, index) => Math.abs(value - shown[index]!) > 8).length > 40;
  }, layer);
}

test('the map is the operator’s: a visitor from elsewhere is refused, and it plays what was seen', async () => {
  const data = mkdtempSync(join(tmpdir(), 'kinesphere-'));
  const outside = Object.values(networkInterfaces()).flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address;
  try {
    await withServer(`--data ${data} --crowd 20 --flush-ms 200`, async (server) => {
      const port = server.address.split(':')[1];
      const page = await openPage(browser);
      if (outside !== undefined) {
        await page.goto(`http://${outside}:${port}/map`);
        await page.waitForSelector('.gate:not([hidden])');
        assert.match((await page.textContent('.gate .error')) ?? '', /operators/);
        assert.equal(await page.evaluate(() => (window as any).map.watch.known.size), 0, 'nothing was told');
        await page.fill('.gate input', 'nonsense');
        await page.click('.gate button');
        await page.waitForFunction(() => document.querySelector('.gate .error')?.textContent?.includes('operators'));
        await page.fill('.gate input', server.operatorToken);
        await page.click('.gate button');
      } else {
        console.log('there is no address but the loopback’s: the refusal is not looked at');
        await page.goto(`${server.url}/map`);
      }
      // What is seen live, tick by tick.
      await page.waitForFunction(() => (window as any).map.frame?.places.size > 20);
      await dragKeepsSelection(page);
      await page.evaluate(() => {
        const { timeline } = (window as any).map;
        const seen: Record<number, any> = {};
        (window as any).seen = seen;
        const take = timeline.take.bind(timeline);
        timeline.take = (frame: any, isLive: boolean) => {
          if (isLive) seen[frame.tick] = [...frame.places];
          take(frame, isLive);
        };
      });
      await page.waitForFunction(() => Object.keys((window as any).seen).length > 15);
      await wait(500);
      const ticks = (await page.evaluate(() => Object.keys((window as any).seen).map(Number))) as number[];
      for (const tick of [ticks[2]!, ticks[10]!]) {
        await page.evaluate((tick) => {
          const { timeline } = (window as any).map;
          timeline.setPaused(true);
          timeline.seek(tick);
        }, tick);
        await page.waitForFunction((tick) => {
          const { map } = window as any;
          return !map.timeline.isLive && map.frame?.tick === tick && map.timeline.past.has(tick);
        }, tick);
        const [live, again] =
          await page.evaluate((tick) =>
          [(window as any).seen[tick], [...(window as any).map.timeline.past.get(tick).places]], tick);
        assert.deepEqual(again, live, `tick ${tick}`);
      }
      await page.context().close();
    }, '0.0.0.0:0');
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});

/** Keeps out a bug: at the end of a drag the browser reports a click, which changed the selection. */
async function dragKeepsSelection(page: Page): Promise<void> {
  const { object, y } = await page.evaluate(() => {
    const { map } = window as any;
    map.selected = [...map.frame.places.keys()][0];
    const y = Array.from({ length: innerHeight }, (_, y) => y)
      .find((y) => [y, y + 20].every((y) => document.elementFromPoint(200, y)?.id === 'map'));
    return { object: map.selected as number, y: y! };
  });
  await page.mouse.move(200, y);
  await page.mouse.down();
  await page.mouse.move(230, y + 10, { steps: 3 });
  await page.mouse.up();
  assert.equal(await page.evaluate(() => (window as any).map.selected), object);
}

test('the dialog offers the world’s own avatars, and a key is seen with the next frame', async () => {
  await withServer(`${ROOM} --in-memory`, async (server) => {
    const ann = await Visitor.open(browser, server.url);
    await ann.page.waitForFunction(() => document.querySelectorAll('#enter .avatar').length === 2);
    assert.deepEqual(await ann.page.locator('#enter .avatar').allTextContents(), ['walker', 'child']);
    await ann.page.check('#enter input[name=avatar][value="1"]');
    await ann.join('Ann');
    await ann.until('is in', (seen) => seen.phase === 'joined' && seen.tick > 0);
    const radius = await ann.page.evaluate(() => (window as any).kinesphere.session.client.welcome.shape.radius);
    assert.equal(Math.fround(radius), Math.fround(0.25), 'she is a child');
    for (const key of ['ArrowUp', 'ArrowDown', 'Space', 'ArrowLeft', 'ArrowRight', 'Space', 'KeyW', 'KeyS']) {
      await ann.standStill();
      const frames = framesUntilMoved(ann.page);
      await wait(60);
      await ann.page.keyboard.down(key);
      const waited = await frames;
      await ann.page.keyboard.up(key);
      assert.equal(waited, 1, `${key} was seen ${waited} frames later`);
    }
    await ann.close();
  });
});

/** How many frames after the next key the own avatar is shown elsewhere. */
function framesUntilMoved(page: Page): Promise<number> {
  return page.evaluate(() => new Promise<number>((done) => {
    const { client } = (window as any).kinesphere.session;
    window.addEventListener('keydown', () => {
      const start = client.own.shown;
      let frames = 0;
      const look = () => {
        frames += 1;
        const { shown } = client.own;
        if (Math.hypot(shown.x - start.x, shown.y - start.y, shown.z - start.z) > 1e-4) done(frames);
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true });
  }));
}

test('a flag waves as the server has it, and stones are not balls', async () => {
  await withServer('../worlds/windy.toml --in-memory', async (server) => {
    const ann = await Visitor.enter(browser, server.url, 'Ann');
    const look = () => ann.page.evaluate(() => {
      const app = (window as any).kinesphere;
      const { client } = app.session;
      const flag = [...client.others.all.values()].find((other: any) => other.entered.name === 'flag') as any;
      const mesh = flag && app.things.meshes.get(flag.entered.object)?.mesh;
      const now = performance.now() * 1_000;
      const clock = flag && client.clockOf(flag.handle, now);
      // Until a ping is answered, the page knows the server's time no better than a welcome tells that waited for
      // others.
      if (!mesh || clock === null || !client.hasPong) return null;
      const { array } = mesh.geometry.getAttribute('position');
      return { frames: app.frames as number, clock: clock as number, at: now, corners: array.length / 3,
        places: [...array] as number[] };
    });
    const seen = async () => {
      for (;;) {
        const flag = await look();
        if (flag !== null) return flag;
        await wait(50);
      }
    };
    const watch = async () => {
      const before = await seen();
      assert.ok(before.corners > 20, `${before.corners} corners`);
      // However slow pictures are here, two more have been drawn.
      await ann.page.waitForFunction((frames) => (window as any).kinesphere.frames > frames, before.frames + 1);
      await wait(400);
      const after = await seen();
      const moved = before.places.map((place, at) => Math.abs(place - after.places[at]!))
        .reduce((a, b) => Math.max(a, b));
      // Its way is free, so its clock runs with time, thirty ticks a second. How late messages are taken in does not
      // show.
      return { moved, shown: after.clock - before.clock, ticks: (after.at - before.at) * 30e-6 };
    };
    const isRight = (flag: Awaited<ReturnType<typeof watch>>) => flag.moved > 0.02
      && Math.abs(flag.shown - flag.ticks) < 4;
    // A busy machine holds a tick of the server up now and then, and the flag with it: one look of five is undisturbed.
    let flag = await watch();
    for (let looks = 1; looks < 5 && !isRight(flag); looks += 1) flag = await watch();
    assert.ok(isRight(flag), JSON.stringify(flag));
    await ann.close();
  });
});

test('who enters before it is told what shapes look like sees only these made anew', async () => {
  await withServer('../worlds/windy.toml --in-memory', async (server) => {
    const ann = await Visitor.open(browser, server.url);
    let tell = () => {};
    const isTime = new Promise<void>((done) => (tell = done));
    await ann.page.route('**/models', async (route) => {
      await isTime;
      await route.continue();
    });
    await ann.page.reload();
    await ann.join('Ann');
    const look = () => ann.page.evaluate(() => {
      const { things, place, placesBuilt } = (window as any).kinesphere;
      const meshes = [...things.meshes]
        .map(([object, { mesh }]: any) => [object, mesh.uuid, mesh.geometry.getAttribute('position').count]);
      return { meshes: meshes as [number, string, number][], place: place?.root.uuid as string | undefined,
        placesBuilt: placesBuilt as number };
    });
    await ann.until('sees what moves', (seen) => ['flag', 'blob', 'rabbit', 'rock']
      .every((name) => other(seen, name) !== undefined));
    await ann.page.waitForFunction(() => (window as any).kinesphere.things.meshes.size >= 4);
    const before = await look();
    tell();
    const { objects } = (await (await fetch(`${server.url}/models`)).json()) as { objects: { object: number }[] };
    const told = new Set(objects.map(({ object }) => object));
    const shaped = before.meshes.filter(([object]) => told.has(object)).map(([object]) => object);
    assert.ok(shaped.length >= 4, `${shaped}`);
    await ann.page.waitForFunction(([object, uuid]) => {
      const entry = (window as any).kinesphere.things.meshes.get(object);
      return entry !== undefined && entry.mesh.uuid !== uuid;
    }, before.meshes.find(([object]) => object === shaped[0])!);
    const after = await look();
    const uuids = new Map(after.meshes.map(([object, uuid]) => [object, uuid]));
    const renewed = before.meshes.filter(([object, uuid]) => uuids.has(object) && uuids.get(object) !== uuid)
      .map(([object]) => object);
    assert.deepEqual(renewed, shaped.filter((object) => uuids.has(object)));
    assert.deepEqual([after.place, after.placesBuilt], [before.place, 1],
      'the place is the one that was built on entering');
    await ann.close();
  });
});

test('where nothing can be drawn, or no script runs, the page says so', async () => {
  await withServer(`${ROOM} --in-memory`, async (server) => {
    const page = await openPage(browser);
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await page.goto(server.url);
    const alert = page.locator('[role=alert]', { hasText: 'WebGL 2' });
    await alert.waitFor();
    await page.context().close();

    const still = await openPage(browser, { javaScriptEnabled: false });
    await still.goto(server.url);
    await still.locator('noscript .gate', { hasText: 'JavaScript' }).waitFor();
    await still.context().close();
  });
});

test('whoever leaves is not told off, leaves no names behind and can enter again', async () => {
  await withServer(`${ROOM} --in-memory`, async (server) => {
    const [ann, bob] = await Promise.all(
      [Visitor.enter(browser, server.url, 'Ann'), Visitor.enter(browser, server.url, 'Bob')]);
    await ann.until('sees Bob', (seen) => other(seen, 'Bob') !== undefined);
    await ann.page.click('#bar button:has-text("Leave")');
    await ann.page.waitForSelector('#enter:not([hidden])');
    await bob.until('sees Ann leave', (seen) => other(seen, 'Ann') === undefined);
    // The server's goodbye has come by now, or does so soon.
    await wait(300);
    assert.equal(await ann.page.textContent('#enter .error'), '');
    assert.equal(await ann.page.locator('.name:not([hidden])').count(), 0);
    await ann.join('Ann');
    await ann.until('is in again', (seen) => seen.phase === 'joined' && other(seen, 'Bob') !== undefined);
    await Promise.all([ann.close(), bob.close()]);
  });
});
