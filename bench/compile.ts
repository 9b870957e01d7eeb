import { spawnSync } from 'node:child_process'

/** Compiles the server as it runs in production, without console and docs. Incremental. */
export function compile(): void {
  const again = ['--incremental', '--tsBuildInfoFile']
  for (const [program, ...args] of [
    ['tsc', '-p', 'sdk', ...again, 'sdk/dist/.tsbuildinfo'],
    ['tsc', '-p', 'tsconfig.build.json', ...again, 'dist/.tsbuildinfo'],
    ['node', 'tools/copy-assets.mjs'],
  ]) {
    const { status } = spawnSync('npx', ['--no-install', program!, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error(`${program} ended with ${status}`)
  }
}
