/**
 * For processes that get an environment of their own: the id of this run, by which reaper.mjs finds what a stopped run left behind.
 */
export const testRun = (): { TEST_RUN: string } => ({ TEST_RUN: process.env.TEST_RUN ?? '' })
