import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Two suites. `npm test` runs the quick one; `npm run test:slow` runs these files: they kill processes and databases, walk through
 * whole pages in a browser, build and install, or fill tables. Without SUITE, as in `npx vitest run PATH`, every file is there.
 */
const slow = [
  'test/browser/**',
  'test/chaos/**',
  'test/cluster/**',
  'test/examples/**',
  'test/audit/background.test.ts',
  'test/audit/corruptions.test.ts',
  'test/audit/forgeries.test.ts',
  'test/audit/roles.test.ts',
  'test/console/walls.test.ts',
  'test/docs/markdown.test.ts',
  'test/fairness.test.ts',
  'test/http/fairness.test.ts',
  'test/http/fuzz.test.ts',
  'test/idle.test.ts',
  'test/lifecycle.test.ts',
  'test/lists/flat.test.ts',
  'test/mixed-load.test.ts',
  'test/ops.test.ts',
  'test/quickstart.test.ts',
  'test/retention.test.ts',
  'test/start-beside.test.ts',
  'test/webhooks/addresses.test.ts',
  'test/webhooks/bounds.test.ts',
  'test/webhooks/fairness.test.ts',
  'test/webhooks/keeping-up.test.ts',
  'src/cli/api/listen.test.ts',
  'src/cli/machine/data-folder.test.ts',
  'src/control/secrets/secrets.test.ts',
  'src/db/baseline.test.ts',
  'src/db/embedded/**',
  'src/db/primary.test.ts',
  'src/ledger/standby.test.ts',
  'src/doors/console-api/call-queue.test.ts',
  'src/doors/console-api/exports.test.ts',
  'src/doors/console-api/shares.test.ts',
  'src/limits/hand-over.test.ts',
  'src/node/backup/**',
  'src/node/database-copy/**',
  'src/node/drain.test.ts',
  'src/node/role.test.ts',
  'src/parties/team/attempts.test.ts',
  'src/records/events/causal-order.test.ts',
]

/** About what a process keeps to itself: statements it prepared, connections, memory, modules. Each of these files gets a fresh one. */
const alone = [
  'src/ledger/**',
  'src/db/**',
  'src/parties/team/**',
  'test/chaos/**',
  'test/cluster/**',
  'test/mixed-load.test.ts',
]

const browser = ['test/browser/**']

/** All test files, as they are found here. */
const files = ['src', 'site', 'console/src', 'sdk/test', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
)
const isIn = (places: readonly string[]) => (file: string) =>
  places.some((place) => (place.endsWith('/**') ? file.startsWith(place.slice(0, -2)) : file === place))
const isAlone = isIn(alone)
const isBrowser = isIn(browser)
const isSlow = isIn(slow)

const { SUITE } = process.env
const inSuite = files.filter(
  (file) => (SUITE === 'quick' && !isSlow(file)) || (SUITE === 'slow' && isSlow(file)) || !SUITE,
)

const common = { testTimeout: 120_000, hookTimeout: 120_000, teardownTimeout: 60_000, pool: 'forks' } as const

export default defineConfig({
  test: {
    globalSetup: ['test/support/sdk-build.ts', 'test/support/postgres.ts'],
    // Most suites start servers and wait, for a database, a lock, a network: one more than this machine has cores, and not two.
    maxWorkers: Math.min(availableParallelism(), 8) + 1,
    projects: [
      {
        // To load the service takes longer than many files run: those of one worker load it once.
        test: {
          ...common,
          name: 'shared',
          include: inSuite.filter((file) => !isAlone(file) && !isBrowser(file)),
          globalSetup: ['test/support/docs-build.ts'],
          isolate: false,
        },
      },
      {
        test: { ...common, name: 'alone', include: inSuite.filter(isAlone) },
      },
      {
        // The pages are built once before all of them, and the files of one worker share a browser.
        test: {
          ...common,
          name: 'browser',
          include: inSuite.filter(isBrowser),
          globalSetup: ['test/support/console-build.ts', 'test/support/docs-build.ts'],
          isolate: false,
        },
      },
    ].filter(({ test: { include } }) => include.length > 0),
  },
})
