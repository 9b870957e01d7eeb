import { decimal } from '#sdk'
import { argument, type Input, listed, type Output, requiredOption } from '../command.ts'
import { assertCheckDigits, assertIdOf } from './checks.ts'
import { openApiClient } from './client.ts'
import { printList, queryOf } from './list.ts'
import { metadataOf } from './metadata.ts'
import { fieldsOf, shown } from './show.ts'

export async function customersCreate(input: Input): Promise<Output> {
  const document = assertCheckDigits('document', requiredOption(input, 'document'))
  const { trilho } = await openApiClient(input)
  return shown(
    await trilho.customers.create({
      name: requiredOption(input, 'name'),
      document,
      ...fieldsOf(input, ['email', 'external-id']),
      ...metadataOf(input),
    }),
  )
}

export async function customersBalances(input: Input): Promise<Output> {
  const id = assertIdOf('customer', argument(input, 0, 'CUSTOMER'))
  const { trilho } = await openApiClient(input)
  const balances = await trilho.customers.balances(id)
  const rows = balances.data.map(({ asset, available, in_transit, total, decimals }) => ({
    asset,
    available: decimal(available, decimals),
    in_transit: decimal(in_transit, decimals),
    total: decimal(total, decimals),
  }))
  return listed(balances, rows)
}

export async function customersDepositAddress(input: Input): Promise<Output> {
  const id = assertIdOf('customer', argument(input, 0, 'CUSTOMER'))
  const network = requiredOption(input, 'network') as never
  const { trilho } = await openApiClient(input)
  return shown(await trilho.depositAddresses.create(id, { network }))
}

export async function customersDepositAddresses(input: Input): Promise<Output> {
  const id = assertIdOf('customer', argument(input, 0, 'CUSTOMER'))
  const { trilho } = await openApiClient(input)
  const addresses = await trilho.depositAddresses.list(id)
  const rows = addresses.data.map(({ network, asset, address, minimum_amount, decimals }) => ({
    network,
    asset,
    address,
    minimum: decimal(minimum_amount, decimals),
  }))
  return listed(addresses, rows)
}

export async function customersStatement(input: Input): Promise<Output> {
  const id = assertIdOf('customer', argument(input, 0, 'CUSTOMER'))
  const { trilho } = await openApiClient(input)
  return printList(input, trilho.customers.statement(id, queryOf(input) as never), (line) => ({
    created_at: line.created_at,
    asset: line.asset,
    amount: decimal(line.amount, line.decimals),
    balance_after: decimal(line.balance_after, line.decimals),
    cause: line.cause.type,
    object: line.cause.id,
  }))
}
