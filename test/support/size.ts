/** Suites that wait for rare moments run in two sizes: small in every test run, full when PROVE is set (tools/prove.ts). */
export const size = (full: number, small: number): number => (process.env.PROVE ? full : small)
