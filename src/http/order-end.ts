/** The end of a payout or transfer, as the API shows it. */
type Ended = {
  readonly status: string
  readonly completed_at: Date | null
  readonly failure_code: string | null
  readonly rail_code: string | null
}

/** The column completed_at stores the time of both ends, success and failure. */
export function endedAt({ status, completed_at }: Pick<Ended, 'status' | 'completed_at'>): {
  completed_at?: string
  failed_at?: string
} {
  if (completed_at === null) return {}
  return status === 'failed'
    ? { failed_at: completed_at.toISOString() }
    : { completed_at: completed_at.toISOString() }
}

export function renderFailure<Code extends string>(
  { failure_code, rail_code }: Pick<Ended, 'failure_code' | 'rail_code'>,
  messages: Readonly<Record<Code, string>>,
): { code: Code; message: string; rail_code?: string } | null {
  if (failure_code === null) return null
  const code = failure_code as Code
  return { code, message: messages[code], ...(rail_code === null ? {} : { rail_code }) }
}
