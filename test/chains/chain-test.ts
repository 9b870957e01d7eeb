import { test } from 'vitest'

const can_exist = process.platform === 'linux' && process.arch === 'x64'

/**
 * For tests that need anvil. They are skipped where no package of anvil exists; in CI, and wherever the package could be installed,
 * they fail without it.
 */
export const chainTest = can_exist || process.env.CI ? test : test.skip
if (!can_exist && !process.env.CI)
  console.warn(
    `SKIPPED: tests against anvil need linux x64, and this is ${process.platform} ${process.arch}.`,
  )
