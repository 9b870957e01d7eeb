import { defineConfig } from 'vitest/config'

/** About what a process keeps to itself: statements it prepared, connections, memory, modules. Each of these files gets a fresh one. */
const alone = [
  'src/ledger/**',
  'src/db/**',
  'src/parties/team/**',
  'test/chaos/**',
  'test/cluster/**',
  'test/mixed-load.test.ts',
]

/** Left to `npm run prove`, for they take long and others meet the same at a smaller size: each belongs to a proof in tools/prove.ts. */
const provedOnly = process.env.PROVE
  ? []
  : [
      ...['conversions', 'developers', 'gallery', 'overview', 'playground', 'pages', 'nothing-lost'].map(
        (name) => `test/browser/${name}.test.ts`,
      ),
      'src/node/backup/guards.test.ts',
      'test/audit/corruptions.test.ts',
      'test/chaos/webhook-receivers.test.ts',
      'test/cluster/lost-primary.test.ts',
      'test/fairness.test.ts',
      'test/http/fuzz.test.ts',
      'test/lists/flat.test.ts',
      'test/mixed-load.test.ts',
      'test/retention.test.ts',
      'test/webhooks/addresses.test.ts',
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
          exclude: provedOnly,
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
