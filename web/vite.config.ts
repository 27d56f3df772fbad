/**
 * How the dashboard is built, and served while it is worked on: with reloading, in front of a running server, by
 * default the one on the default address.
 */
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

const target = process.env['AGENT_TRACER_URL'] ?? 'http://127.0.0.1:4747';

export default defineConfig({
  plugins: [svelte()],
  server: {
    host: '127.0.0.1',
    port: 4748,
    proxy: Object.fromEntries(['/api', '/login'].map((path) => [path, { target, changeOrigin: true }])),
  },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The strict content policy of the server allows no inline script, and every browser we support preloads modules.
    modulePreload: { polyfill: false },
  },
  // Tests of components mount them as a browser does; `happy-dom` is chosen by the file that needs it.
  resolve: process.env['VITEST'] ? { conditions: ['browser'] } : {},
  test: { environment: 'node', include: ['src/**/*.test.ts'] },
});
