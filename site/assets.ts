import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Addresses of the script and the style sheet of all pages. */
export type Assets = { readonly script: string; readonly style: string }

type Manifest = Readonly<Record<'main.ts' | 'style.css', { readonly file: string }>>

/** Bundles script and styles, with a hash in every file name, so that a file can be cached for ever. */
export async function buildAssets(folder: string): Promise<Assets> {
  await build({
    configFile: false,
    root: fileURLToPath(new URL('browser/', import.meta.url)),
    base: '/docs/',
    logLevel: 'error',
    build: {
      outDir: folder,
      emptyOutDir: false,
      // These browsers support light-dark(), so it is not compiled away.
      target: ['chrome123', 'firefox121', 'safari17.5'],
      // A font inside a style sheet would be a data: address, which font-src refuses.
      assetsInlineLimit: 0,
      modulePreload: false,
      manifest: 'manifest.json',
      // A single chunk without imports runs as a classic blocking script, so the theme is set before the first paint.
      rolldownOptions: { input: ['main.ts', 'style.css'] },
    },
  })
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  return { script: `/docs/${manifest['main.ts'].file}`, style: `/docs/${manifest['style.css'].file}` }
}
