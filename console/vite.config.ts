import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // light-dark() of the tokens reaches the browser as it is written.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // A font or picture inside a style sheet would be a data: address, which font-src refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    // What nearly every page is made of comes once, with the first load, and not in twenty crumbs.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'kit', test: /console\/src\/(api|format|ui)\// }] } },
    },
  },
  // `vite console` for work on the pages; the service itself runs beside it.
  server: { proxy: { '/console/api': process.env.TRILHO_URL ?? 'http://127.0.0.1:8080' } },
})
