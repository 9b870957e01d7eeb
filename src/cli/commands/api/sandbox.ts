import type { CliCommand } from '../../command.ts'
import { ASSETS, customer, network } from './options.ts'

const load = () => import('../../api/sandbox.ts')

/** Commands of the sandbox, in which the partner decides what Pix, the chain and the clock do. */
export const sandboxCommands: CliCommand[] = [
  {
    name: 'sandbox deposit',
    about: 'Give a customer of the sandbox money',
    who: 'key',
    options: {
      customer,
      asset: { type: 'string', value: ASSETS, about: 'Which balance; BRL when absent' },
      amount: { type: 'string', value: '10.50', about: 'In the asset', required: true },
    },
    examples: ['trilho sandbox deposit --customer $CUSTOMER --amount 1000.00'],
    run: async (input) => (await load()).sandboxDeposit(input),
  },
  {
    name: 'sandbox receive',
    about: 'Let a deposit arrive on a network of the sandbox',
    who: 'key',
    options: {
      customer,
      network,
      amount: { type: 'string', value: '25.00', about: 'In the asset of the network', required: true },
    },
    examples: ['trilho sandbox receive --customer $CUSTOMER --network polygon --amount 25.00'],
    run: async (input) => (await load()).sandboxReceive(input),
  },
  {
    name: 'sandbox pay',
    takes: 'CHARGE',
    about: 'Pay a charge of the sandbox',
    who: 'key',
    options: { amount: { type: 'string', value: '10.50', about: 'In BRL; the whole charge when absent' } },
    examples: ['trilho sandbox pay $CHARGE', 'trilho sandbox pay $CHARGE --amount 5.00'],
    run: async (input) => (await load()).sandboxPay(input),
  },
  {
    name: 'sandbox complete',
    takes: 'PAYOUT',
    about: 'Complete a waiting payout in the sandbox',
    who: 'key',
    examples: ['trilho sandbox complete $PAYOUT'],
    run: async (input) => (await load()).sandboxComplete(input),
  },
  {
    name: 'sandbox return',
    takes: 'PAYOUT|PAYMENT',
    about: 'Let a payout of the sandbox come back, or give a received payment back, by its end_to_end_id',
    who: 'key',
    options: {
      amount: { type: 'string', value: '4.50', about: 'In BRL; all that is left when absent' },
    },
    examples: ['trilho sandbox return $PAYOUT', 'trilho sandbox return $PAYMENT --amount 4.50'],
    run: async (input) => (await load()).sandboxReturn(input),
  },
  {
    name: 'sandbox confirm',
    takes: 'TRANSFER',
    about: 'Confirm a waiting transfer in the sandbox',
    who: 'key',
    examples: ['trilho sandbox confirm $TRANSFER'],
    run: async (input) => (await load()).sandboxConfirm(input),
  },
  {
    name: 'sandbox fail',
    takes: 'PAYOUT|TRANSFER',
    about: 'Fail a waiting payout or transfer in the sandbox',
    who: 'key',
    examples: ['trilho sandbox fail $PAYOUT'],
    run: async (input) => (await load()).sandboxFail(input),
  },
  {
    name: 'sandbox expire',
    takes: 'QUOTE|CHARGE',
    about: 'Let a quote or a charge of the sandbox expire now',
    who: 'key',
    examples: ['trilho sandbox expire $QUOTE'],
    run: async (input) => (await load()).sandboxExpire(input),
  },
]
