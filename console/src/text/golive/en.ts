import { plural } from '../plural.ts'

const n = plural('en')

export const golive = {
  title: 'Going live',
  about: 'The list that trilho golive walks, as this node sees it. It moves no money.',
  ready: 'Everything is right: you can go live',
  red: (count: number) => n(count, { one: '# line is red', other: '# lines are red' }),
  walking: 'Asking rails, database and alerts…',
  again: 'Check again',
  hidden: (count: number) =>
    n(count, { one: '# line is right or not used', other: '# lines are right or not used' }),
  all: 'All lines',
  only_red: 'Red lines',
  shown: 'Which lines',
  failed: 'The list could not be walked.',
  kept: 'A result is kept for a minute.',
  states: { ok: 'Right', red: 'Red', unknown: 'Not known', unused: 'Not used' },
  areas: {
    settings: 'Settings',
    rails: 'Rails and prices',
    round_trips: 'First payments',
    people: 'Operators',
    database: 'Database, backups and disks',
    watching: 'Metrics, alerts, mail and audit',
    clock: 'Clock',
  },
  commands: 'Commands',
}
