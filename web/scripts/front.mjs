/**
 * A built dashboard in front of a running server, so that a change can be looked at, tested and
 * measured without building the program anew.
 * Files are sent as the program sends them: compressed where they are, under the same policy of content.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'";
const OF_THE_SERVER = /^\/(api|health|hooks|ingest|login)(\/|$)/;

/** Listens on a free port; resolves to the address and a way to stop. */
export async function front(dist, target) {
  const to = new URL(target);
  const server = http.createServer((request, response) => {
    const path = new URL(request.url, target).pathname;
    if (OF_THE_SERVER.test(path)) pass(to, request, response);
    else send(dist, path, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

function pass(to, request, response) {
  const asked = http.request(
    {
      host: to.hostname,
      port: to.port,
      path: request.url,
      method: request.method,
      headers: { ...request.headers, host: to.host, ...(request.headers.origin ? { origin: to.origin } : {}) },
    },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  asked.on('error', () => response.destroy());
  response.on('close', () => asked.destroy());
  request.pipe(asked);
}

function send(dist, path, response) {
  const wanted = join(dist, normalize(path));
  const file = existsSync(wanted) && statSync(wanted).isFile() ? wanted : join(dist, 'index.html');
  const packed = existsSync(`${file}.br`);
  response.writeHead(200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': POLICY,
    'cache-control': path.startsWith('/assets/') ? 'max-age=31536000, immutable' : 'no-cache',
    ...(packed ? { 'content-encoding': 'br' } : {}),
  });
  response.end(readFileSync(packed ? `${file}.br` : file));
}
