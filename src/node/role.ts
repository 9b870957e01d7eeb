/**
 * The role of a node. An `api` node answers calls and sends the payouts that it accepted; a `worker` node completes the
 * payments that any node accepted, runs the audit and does the housekeeping. When an `api` node dies, workers take over all
 * that it accepted.
 */
export const roles = ['all', 'api', 'worker'] as const
export type Role = (typeof roles)[number]

export const answersCalls = (role: Role): boolean => role !== 'worker'
export const runsWorkers = (role: Role): boolean => role !== 'api'
