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

const common = { testTimeout: 60_000, hookTimeout: 60_000, pool: 'forks' } as const

export default defineConfig({
  test: {
    globalSetup: ['test/support/postgres.ts'],
    // Most suites start servers and wait for a database: more at once than cores would only make them wait for each other.
    maxWorkers: 2,
    projects: [
      {
        // To load the service takes longer than many files run: those of one worker load it once.
        test: {
          ...common,
          name: 'shared',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: alone,
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
    ],
  },
})
