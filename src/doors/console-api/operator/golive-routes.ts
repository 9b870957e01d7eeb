import { answer, type ConsoleHandler } from '../endpoint.ts'
import type { ConsoleParts } from '../parts.ts'
import { getGolive } from './golive-contract.ts'
import { openGoliveWalks } from './golive-walks.ts'

/** The checklist is about production, whichever environment the page is in. */
export function goliveRoutes({ walkGolive }: ConsoleParts): ConsoleHandler[] {
  const walks = openGoliveWalks(walkGolive)
  return [
    answer(getGolive, async () => {
      const { running, report, failure = null } = walks.look()
      return {
        ...{ running, failure },
        report: report
          ? {
              at: report.at.toISOString(),
              is_ready: report.is_ready,
              lines: report.lines.map(({ commands, values, ...line }) => ({
                ...line,
                commands: [...commands],
                values: Object.fromEntries(
                  Object.entries(values).map(([name, value]) => [name, String(value)]),
                ),
              })),
            }
          : null,
      }
    }),
  ]
}
