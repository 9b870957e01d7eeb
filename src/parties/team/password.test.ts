import { describe, expect, test } from 'vitest'
import { assertGoodPassword, newPassword } from './password.ts'
import { passwordBits } from './password-strength.ts'

const person = { email: 'joana.prado@padaria.example', name: 'Joana Prado Leitão' }
const judge = (password: string) => () => assertGoodPassword(password, person)

describe('a password that a person chooses', () => {
  test.each([
    '111111111111',
    'password123456',
    'Password123456!',
    'P@ssw0rd12345',
    'senha1234567',
    'qwertyuiop12',
    '1q2w3e4r5t6y',
    '098765432109',
    'abcdefghijkl',
    'abcabcabcabc',
    'aabbccddeeff',
    'hunter2hunter2',
    'flamengo2024',
    'Brasil@123456',
    'trilho123456',
    'trilho-console-2025',
    'joana.prado1990',
    'joana.prado@padaria.example',
    'leitao leitao 2024',
    'welcome2welcome',
    'dragonmonkey42',
    '           a',
  ])('%s is easy to guess, and the answer says what to do', (password) => {
    expect(judge(password)).toThrow('This password is easy to guess')
    expect(judge(password)).toThrow('Use four or more words that do not belong together')
  })

  test.each([
    'correct horse battery staple',
    'tide marble oven crane',
    'cafe girafa janela trovao',
    'dragon monkey master sunshine',
    'um bom trem azul de papel',
    'xk7-PQ2vz!mW',
    'a fine pass phrase 1',
  ])('%s is accepted', (password) => {
    expect(judge(password)).not.toThrow()
  })

  test('a generated one is always accepted', () => {
    for (let i = 0; i < 200; i++) expect(judge(newPassword())).not.toThrow()
  })

  test.each(['a', 'ab1@3', 'password', 'qwerty1', 'dragonmonkey'])(
    'the repeats of %s count once, however many there are',
    (text) => {
      expect(passwordBits(text.repeat(20), [])).toBeLessThan(42)
    },
  )

  test('of 10,000 characters is judged like one of 100', () => {
    const text = Array.from({ length: 10_000 }, (_, i) => 'e3a4i1o0s5'[(i * i * 7 + (i >> 3)) % 10]).join('')
    expect(passwordBits(text, [])).toBe(passwordBits(text.slice(0, 100), []))
  })
})
