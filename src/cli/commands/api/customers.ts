import type { CliCommand } from '../../command.ts'
import { metadata, network } from './options.ts'
import { filter, paging, reading } from './reading.ts'

const load = () => import('../../api/customers.ts')

export const apiCustomerCommands: CliCommand[] = [
  ...reading({
    noun: 'customers',
    one: 'CUSTOMER',
    filters: {
      status: filter('active|blocked', 'Only these'),
      document: filter('CPF|CNPJ', 'Of this document'),
      'external-id': filter('TEXT', 'Your own name for it'),
    },
    examples: ['trilho customers list', 'trilho customers list --all --output jsonl'],
  }),
  {
    name: 'customers create',
    about: 'Create a customer',
    who: 'key',
    options: {
      name: { type: 'string', value: 'TEXT', about: 'Full name', required: true },
      document: { type: 'string', value: 'CPF|CNPJ', about: 'With or without dots', required: true },
      email: { type: 'string', value: 'ADDRESS', about: 'E-mail' },
      'external-id': { type: 'string', value: 'TEXT', about: 'Your own name for it, unique' },
      ...metadata,
    },
    examples: ["trilho customers create --name 'Ana Souza' --document 529.982.247-25"],
    run: async (input) => (await load()).customersCreate(input),
  },
  {
    name: 'customers balances',
    takes: 'CUSTOMER',
    about: 'Show what a customer has',
    who: 'key',
    lists: true,
    examples: ['trilho customers balances $CUSTOMER'],
    run: async (input) => (await load()).customersBalances(input),
  },
  {
    name: 'customers deposit-address',
    takes: 'CUSTOMER',
    about: 'Show the address at which a customer receives on a network; the first call makes it',
    who: 'key',
    options: { network },
    examples: ['trilho customers deposit-address $CUSTOMER --network polygon'],
    run: async (input) => (await load()).customersDepositAddress(input),
  },
  {
    name: 'customers deposit-addresses',
    takes: 'CUSTOMER',
    about: 'List the addresses at which a customer receives',
    who: 'key',
    lists: true,
    examples: ['trilho customers deposit-addresses $CUSTOMER'],
    run: async (input) => (await load()).customersDepositAddresses(input),
  },
  {
    name: 'customers statement',
    takes: 'CUSTOMER',
    about: 'Show every movement of a customer’s money, newest first',
    who: 'key',
    lists: true,
    options: { asset: filter('BRL|USDT|BTC', 'Only this one'), ...paging },
    examples: ['trilho customers statement $CUSTOMER --asset BRL'],
    run: async (input) => (await load()).customersStatement(input),
  },
]
