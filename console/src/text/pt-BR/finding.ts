import type { finding as En } from '../en/finding.ts'

export const finding: typeof En = {}
