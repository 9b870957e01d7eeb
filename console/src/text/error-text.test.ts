import { expect, test } from 'vitest'
import { ui as en } from './en/ui.ts'
import { errorText } from './error-text.ts'
import { ui as pt } from './pt-BR/ui.ts'

const refused = (code: string, param?: string, status = 400) => ({
  code,
  param,
  status,
  message: 'as the API says',
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
