/**
 * How the dashboard is built and served while it is worked on.
 *
 * `vite` talks to a real server on the default address, `vite --mode mock` to the made-up one in `mock/`. The mock is
 * part of this configuration, never of the application: nothing under `src/` can import it into the build.
 */
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

import { mockServer } from './mock/plugin.ts';

const tracer = process.env['AGENT_TRACER_URL'] ?? 'http://127.0.0.1:4747';

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === 'mock' ? [mockServer()] : [])],
  server: {
    host: '127.0.0.1',
    port: 4748,
    ...(mode === 'mock'
      ? {}
      : {
          proxy: Object.fromEntries(['/api', '/login'].map((path) => [path, { target: tracer, changeOrigin: true }])),
        }),
  },
  preview: { host: '127.0.0.1', port: 4749 },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The strict content policy of the server allows no inline script, and every browser we support preloads modules.
    modulePreload: { polyfill: false },
  },
  test: { environment: 'node', include: ['src/**/*.test.ts', 'mock/**/*.test.ts'] },
}));
