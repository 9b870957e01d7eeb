import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { consoleSecurityPolicy } from '../../src/doors/console-api/pages.ts'
import { buildPages } from './console-build.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
}

/** The page that shows every component, built as the console is and served under its policy. */
export async function openGallery(): Promise<{ readonly url: string; stop(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-gallery-'))
  buildPages('console/gallery', ['--outDir', folder, '--emptyOutDir'])
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://gallery').pathname.replace('/console/', '')
    const name = extname(path) === '' ? 'index.html' : path
    response.setHeader('content-security-policy', consoleSecurityPolicy)
    response.setHeader('content-type', types[extname(name)] ?? 'image/svg+xml')
    response.end(readFileSync(join(folder, name)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
