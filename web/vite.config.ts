import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Plugin, defineConfig } from 'vite';

const page = (name: string) => resolve(import.meta.dirname, name);

/** Lays a compressed copy beside each file: the server sends it as it is. */
function compress(): Plugin {
  return {
    name: 'compress',
    closeBundle() {
      for (const entry of readdirSync(page('dist'), { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || entry.name.endsWith('.gz')) continue;
        const path = join(entry.parentPath, entry.name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  base: '/',
  logLevel: 'warn',
  plugins: [compress()],
  build: {
    target: 'es2022',
    // Nothing is inlined: the content policy allows no inline code.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: { index: page('index.html'), map: page('map.html'), bench: page('bench.html') } },
    chunkSizeWarningLimit: 1_000,
  },
});
