import type { Format, Output } from './command.ts'
import { csv } from './csv.ts'
import type { Io } from './io.ts'

/** Prints the output of a command in the requested format. A list has its objects under `data`. */
export function print({ stdout }: Io, format: Format, output: NonNullable<Output>): void {
  if (output.text === undefined) return
  if (format === 'table') stdout.write(output.text)
  else if (format === 'csv') stdout.write(csv(output.rows ?? []))
  else if (format === 'json') stdout.write(`${toJson(output.json)}\n`)
  else for (const one of listIn(output.json) ?? [output.json]) stdout.write(`${toJson(one)}\n`)
}

function listIn(value: unknown): readonly unknown[] | undefined {
  const data = (value as { data?: unknown } | null | undefined)?.data
  return Array.isArray(data) ? data : undefined
}

export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? item.toString() : item))
