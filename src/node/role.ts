/**
 * What a node does. An `api` node answers calls and sends what it accepted itself; a `worker` node brings to its end
 * whatever was accepted anywhere, audits and tidies up. Nothing that an api node accepts needs it to stay alive.
 */
export const roles = ['all', 'api', 'worker'] as const
export type Role = (typeof roles)[number]

export const answersCalls = (role: Role): boolean => role !== 'worker'
export const runsWorkers = (role: Role): boolean => role !== 'api'
