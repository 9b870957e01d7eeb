import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Where the script and the style sheet of all pages are served. */
export type Assets = { readonly script: string; readonly style: string }

type Manifest = Readonly<Record<'main.ts' | 'style.css', { readonly file: string }>>

/** Bundles what runs and shows in the browser, with a hash in every name: such a file never changes. */
export async function buildAssets(folder: string): Promise<Assets> {
  await build({
    configFile: false,
    root: fileURLToPath(new URL('browser/', import.meta.url)),
    base: '/docs/',
    logLevel: 'error',
    build: {
      outDir: folder,
      emptyOutDir: false,
      // light-dark() of the tokens reaches the browser as it is written.
      target: ['chrome123', 'firefox121', 'safari17.5'],
      // A font inside a style sheet would be a data: address, which font-src refuses.
      assetsInlineLimit: 0,
      modulePreload: false,
      manifest: 'manifest.json',
      // One chunk without imports: it also runs as a plain script, which blocks, so the theme is there before the page.
      rolldownOptions: { input: ['main.ts', 'style.css'] },
    },
  })
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  return { script: `/docs/${manifest['main.ts'].file}`, style: `/docs/${manifest['style.css'].file}` }
}
