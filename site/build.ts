import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { OpenApi } from '../src/doors/reference/openapi.ts'
import { packagesToServe } from '../tools/packages.ts'
import { buildAssets } from './assets.ts'
import { buildSite } from './site.ts'

/** Writes the compressed docs into dist/docs. Run by `npm run build`. */
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist/docs')

mkdirSync(folder, { recursive: true })
for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })

for (const { name, content } of await packagesToServe()) writeFileSync(join(folder, name), content)
const assets = await buildAssets(folder)
// Uses the checked-in file, because loading all endpoints would take longer than the rest of the build. `npm run check`
// compares the file with the endpoints.
const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as OpenApi
for (const [address, text] of buildSite({ root, openapi, assets })) write(nameOf(address), text)
for (const name of readdirSync(join(folder, 'assets')))
  if (!name.endsWith('.woff2')) {
    const path = join(folder, 'assets', name)
    write(`assets/${name}`, readFileSync(path, 'utf8'))
    rmSync(path)
  }
rmSync(join(folder, 'manifest.json'))

/** The file name of an address: `/docs/guides/money` is guides/money.html; an address with a file extension keeps it. */
function nameOf(address: string): string {
  const name = address.replace(/^\/(docs\/?)?/, '')
  if (name === '') return 'index.html'
  return /\.(md|xml|json|yaml|txt|http|svg)$/.test(name) ? name : `${name}.html`
}

function write(name: string, text: string): void {
  const path = join(folder, `${name}.gz`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, gzipSync(text, { level: 9 }))
}
