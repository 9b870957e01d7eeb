import { insertInto } from '../ledger/command.ts'

export const eventColumns = {
  id: 'text',
  partner_id: 'text',
  type: 'text',
  object_id: 'text',
  sequence: 'integer',
  data: 'json',
  created_at: 'timestamptz',
} as const

export const insertEvents = insertInto('events', eventColumns)
