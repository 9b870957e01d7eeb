import { type EventType, eventTypes } from '../../records/events/types.ts'
import { type Input, option, usage } from '../command.ts'
import { nearest } from '../find-command.ts'

/** Reads a comma-separated list of event types. An empty list means all types. */
export const eventTypesOf = (input: Input, name: string): EventType[] =>
  (option(input, name) ?? '')
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '')
    .map((type) => eventTypeNamed(type, `--${name}`))

export function eventTypeNamed(type: string, where: string): EventType {
  const known = eventTypes.find((one) => one === type)
  if (known) return known
  const meant = nearest(type, eventTypes)
  return usage(
    `${where} has ${type}, which is no event type. ${meant ? `Did you mean ${meant}?` : `They are ${eventTypes.join(', ')}.`}`,
  )
}
