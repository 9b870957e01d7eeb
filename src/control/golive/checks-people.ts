import { check, type GoliveCheck, known, says, unknown } from './check.ts'

const TWO = 2

export const peopleChecks: readonly GoliveCheck[] = [
  check({
    name: 'two_operators',
    area: 'people',
    about: 'Two operators can decide about money',
    says: {
      ok: { state: 'ok', found: '{count} operators can propose and approve, each with a second factor.' },
      few: {
        state: 'red',
        found: 'Operators who can propose and approve and have a second factor: {count}. Two are needed.',
        to_do: 'Make another operator. Each operator sets up a second factor at the first sign-in.',
        commands: ['trilho users create --email EMAIL --operator', 'trilho factor enroll'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ operators }) =>
      known(operators, (all) => {
        const count = all.filter(({ role, second_factor }) => role !== 'reader' && second_factor).length
        return says(count >= TWO ? 'ok' : 'few', { count })
      }),
  }),
  check({
    name: 'second_factors',
    area: 'people',
    about: 'Every operator has a second factor',
    says: {
      ok: { state: 'ok', found: 'Every operator has one.' },
      none: {
        state: 'red',
        found: 'There is no operator.',
        to_do: 'Make two operators.',
        commands: ['trilho users create --email EMAIL --operator'],
      },
      missing: {
        state: 'red',
        found: 'Without a second factor: {emails}.',
        to_do: 'Let these operators set one up, or remove them.',
        commands: ['trilho factor enroll', 'trilho users remove EMAIL'],
      },
      unknown: unknown('Make sure that the database answers, and run this command again.'),
    },
    judge: ({ operators }) =>
      known(operators, (all) => {
        const without = all.filter(({ second_factor }) => !second_factor).map(({ email }) => email)
        if (all.length === 0) return says('none')
        return without.length === 0 ? says('ok') : says('missing', { emails: without.join(', ') })
      }),
  }),
]
