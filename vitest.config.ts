import { defineConfig } from 'vitest/config'

/** About what a process keeps to itself: statements it prepared, connections, memory, modules. Each of these files gets a fresh one. */
const alone = [
  'src/ledger/**',
  'src/db/**',
  'src/team/**',
  'test/chaos/**',
  'test/cluster/**',
  'test/mixed-load.test.ts',
]

/** For `npm run prove`: what the walk over the pages and the journeys meet too, looked at closely; and attacks on backups. */
const provedOnly = process.env.PROVE
  ? []
  : [
      ...['gallery', 'overview', 'playground'].map((name) => `test/browser/${name}.test.ts`),
      'src/backup/guards.test.ts',
    ]

const common = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' } as const

export default defineConfig({
  test: {
    globalSetup: ['test/support/sdk-build.ts', 'test/support/postgres.ts'],
    // Most suites start servers and wait, for a database, a lock, a network: one more than this machine has cores, and not two.
    maxWorkers: 3,
    projects: [
      {
        // To load the service takes longer than many files run: those of one worker load it once.
        test: {
          ...common,
          name: 'shared',
          include: [
            'src/**/*.test.ts',
            'site/**/*.test.ts',
            'console/src/**/*.test.{ts,tsx}',
            'test/**/*.test.ts',
            'sdk/test/**/*.test.ts',
          ],
          globalSetup: ['test/support/docs-build.ts'],
          exclude: [...alone, ...provedOnly, 'test/browser/**'],
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'alone',
          include: alone.map((place) => place.replace('**', '**/*.test.ts')),
        },
      },
      {
        // The pages are built once before all of them, and the files of one worker share a browser.
        test: {
          ...common,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          exclude: provedOnly,
          globalSetup: ['test/support/console-build.ts', 'test/support/docs-build.ts'],
          isolate: false,
        },
      },
    ],
  },
})
