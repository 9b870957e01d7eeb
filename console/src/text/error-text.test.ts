import { expect, test } from 'vitest'
import { errors, reasons } from '../../../src/core/errors.ts'
import { consoleEndpoints } from '../../../src/doors/console-api/endpoints.ts'
import { ui as en } from './en/ui.ts'
import { errorText } from './error-text.ts'
import { ui as pt } from './pt-BR/ui.ts'

const refused = (code: string, param?: string, status = 400) => ({
  code,
  param,
  status,
  message: 'as the API says',
  details: {},
})

test('an error about a field does not use the API’s parameter names', () => {
  for (const ui of [en, pt]) {
    expect(errorText(ui, refused('invalid_request', 'document'))).toBe(ui.fields.document)
    expect(errorText(ui, refused('invalid_request', 'metadata.a'))).toBe(ui.fields.metadata)
    expect(errorText(ui, refused('invalid_request', 'cursor'))).toBe(ui.fields.cursor)
    expect(errorText(ui, refused('invalid_amount', 'amount'))).toBe(ui.fields.amount)
    expect(errorText(ui, refused('amount_too_large', 'amount', 422))).toBe(ui.errors.amount_too_large)
    expect(errorText(ui, refused('payout_not_found', undefined, 404))).toBe(ui.failed.not_found)
  }
})

test('an unknown error is shown with the API’s message', () => {
  expect(errorText(pt, refused('invalid_request', 'something_new'))).toBe('as the API says')
})

test('both languages know the same fields', () => {
  expect(Object.keys(pt.fields)).toEqual(Object.keys(en.fields))
})

test('every error of the console’s calls has a Portuguese text', () => {
  const codes = new Set<string>(consoleEndpoints.flatMap((endpoint) => endpoint.errors ?? []))
  expect(codes.size).toBeGreaterThan(15)
  // A 404 has one text for every noun.
  const isMissing = (code: string) => errors[code as keyof typeof errors].status === 404
  expect([...codes].filter((code) => !isMissing(code) && !(code in pt.errors))).toEqual([])
})

test('every reason of a refusal has a Portuguese text', () => {
  expect(Object.keys(pt.reasons)).toEqual([...reasons])
  const never_signed = { ...refused('not_possible', undefined, 409), details: { reason: 'never_signed' } }
  expect(errorText(pt, never_signed)).toBe(pt.reasons.never_signed)
  expect(errorText(en, never_signed)).toBe('as the API says')
})
