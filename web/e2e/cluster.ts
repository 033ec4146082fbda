// Several servers of one world, as `docs/cluster.md` starts them.

import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';

import { Serving, binary } from './serving.ts';

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

/** Two servers of one world, and a witness; all are told these arguments, separated by spaces. */
export async function withCluster(args: string, run: (one: Serving, two: Serving) => Promise<void>): Promise<void> {
  const ports = [await freePort(), await freePort()];
  const serve = (name: string, port: number, join: string) =>
    Serving.start(
      `${args} --cluster shared --resume-seconds 60 --log warn --node-name ${name} ` +
        `--cluster-listen 127.0.0.1:${port}${join}`,
    );
  const one = await serve('one', ports[0]!, '');
  let two: Serving | null = null;
  let witness: ChildProcess | null = null;
  try {
    two = await serve('two', ports[1]!, ` --join 127.0.0.1:${ports[0]}`);
    const joins = ports.map((port) => `--join 127.0.0.1:${port}`).join(' ');
    witness = spawn(binary, `witness ${args} --cluster shared --log off --node-name witness ${joins}`.split(' '),
      { stdio: 'ignore' });
    await run(one, two);
  } finally {
    witness?.kill('SIGKILL');
    await two?.end('SIGKILL');
    await one.end('SIGKILL');
  }
}
