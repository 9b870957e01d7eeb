import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * The files of the slow suite (`npm run test:slow`): they kill processes and databases, use the pages in a browser, wait for blocks of
 * a chain, build and install, or fill tables. All other files are the quick suite (`npm test`). tools/test.mjs sets SUITE; without
 * it, as in `npx vitest run PATH`, both suites are included.
 */
const slow = [
  'test/browser/**',
  'test/chains/**',
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
  'test/partner-install.test.ts',
  'test/pix/efi-charges.test.ts',
  'test/pix/efi-production.test.ts',
  'test/pix/pix-chaos.test.ts',
  'test/python/payroll.test.ts',
  'test/quickstart.test.ts',
  'test/rehearsal.test.ts',
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
  'src/doors/console-api/call-queue.test.ts',
  'src/doors/console-api/exports.test.ts',
  'src/doors/console-api/shares.test.ts',
  'src/ledger/standby.test.ts',
  'src/limits/hand-over.test.ts',
  'src/money/charges/kills.test.ts',
  'src/money/custody/guard.test.ts',
  'src/money/onchain/coins/chain.test.ts',
  'src/money/onchain/coins/deposits.test.ts',
  'src/money/onchain/coins/restored.test.ts',
  'src/money/onchain/coins/way-out.test.ts',
  'src/money/onchain/evm-cancel.test.ts',
  'src/money/sweeps/sweeps.test.ts',
  'src/node/backup/**',
  'src/node/database-copy/**',
  'src/node/drain.test.ts',
  'src/node/role.test.ts',
  'src/parties/team/attempts.test.ts',
  'src/rails/chain/bitcoin.test.ts',
  'src/records/events/causal-order.test.ts',
]

/**
 * Files that each run in a new process, because they test state of the process: prepared statements, connections, memory, loaded
 * modules.
 */
const alone = [
  'src/ledger/**',
  'src/db/**',
  'src/parties/team/**',
  'test/chaos/**',
  'test/cluster/**',
  'test/mixed-load.test.ts',
]

const browser = ['test/browser/**']

/** All test files in the repository. */
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
const inSuite = files.filter((file) => !SUITE || isSlow(file) === (SUITE === 'slow'))

const common = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  teardownTimeout: 60_000,
  // What a page shows after a click is asked for again and again. Vitest itself gives up after a second.
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks',
} as const

export default defineConfig({
  test: {
    globalSetup: ['test/support/sdk-build.ts', 'test/support/postgres.ts'],
    // Most tests wait for a database, a lock or a socket, so one worker more than there are cores, up to nine, keeps the cores busy.
    maxWorkers: Math.min(availableParallelism(), 8) + 1,
    projects: [
      {
        // Loading the service takes longer than many files run, so all files of a worker share one process and its modules.
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
        // The pages are built once before all files, and the files of one worker share a browser.
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
