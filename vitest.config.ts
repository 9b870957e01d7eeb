import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most suites start servers and wait for a database: more at once than cores would only make them wait for each other.
    maxWorkers: 2,
    pool: 'forks',
  },
})
