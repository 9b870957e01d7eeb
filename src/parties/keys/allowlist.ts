import { refuse } from '../../core/errors.ts'
import { faultOfRange, type RangeFault } from '../../http/ip.ts'

/** What is wrong with one of the ranges of an allowlist; lines count from one. */
type AllowlistFault = RangeFault & { readonly line: number; readonly text: string }

export const faultsOf = (ranges: readonly string[]): AllowlistFault[] =>
  ranges.flatMap((text, i) => {
    const fault = faultOfRange(text)
    return fault ? [{ ...fault, line: i + 1, text }] : []
  })

/** Interface §5.5. Refuses with what is wrong in which line, and what to write instead, in words and as details. */
export function checkAllowlist(ranges: readonly string[]): void {
  const [fault] = faultsOf(ranges)
  if (!fault) return
  const line = ranges.length > 1 ? `Line ${fault.line}: ` : ''
  refuse('invalid_request', {
    param: 'ip_allowlist',
    message: `${line}${fault.text} ${inWords(fault)}`,
    details: fault,
  })
}

function inWords(fault: RangeFault): string {
  switch (fault.kind) {
    case 'host_bits':
      return `has host bits set. For the range write ${fault.range}, for the one address ${fault.address}.`
    case 'wildcard':
      return `has a wildcard. For the range write ${fault.range}.`
    case 'prefix':
      return `has a prefix that is too long: it goes up to /${fault.longest}. For the one address write ${fault.address}.`
    default:
      return 'is not an IP address or a CIDR range. Write 203.0.113.24, 203.0.113.0/24 or 2001:db8:42::/48.'
  }
}
