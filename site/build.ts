import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { OpenApi } from '../src/reference/openapi.ts'
import { buildAssets } from './assets.ts'
import { buildSite } from './site.ts'

/** Writes the docs into dist/docs, compressed: `npm run build` runs it. */
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist/docs')

/** Made by another step of the build. */
const KEPT = 'trilho-sdk.tgz'

mkdirSync(folder, { recursive: true })
for (const name of readdirSync(folder)) if (name !== KEPT) rmSync(join(folder, name), { recursive: true })

const assets = await buildAssets(folder)
// As it is checked in, for `npm run check` holds that against the endpoints: to load them all would take longer than the rest.
const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as OpenApi
for (const [address, text] of buildSite({ root, openapi, assets })) write(nameOf(address), text)
for (const name of readdirSync(join(folder, 'assets')))
  if (!name.endsWith('.woff2')) {
    const path = join(folder, 'assets', name)
    write(`assets/${name}`, readFileSync(path, 'utf8'))
    rmSync(path)
  }
rmSync(join(folder, 'manifest.json'))

/** `/docs/guides/money` is guides/money.html; what has an ending of its own keeps it. */
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
