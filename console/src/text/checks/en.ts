/**
 * The checks of the ledger proof, by the name under which the service reports and stores them. In English only those whose name
 * reads badly on its own have another text here.
 */
export const checks: Readonly<Record<string, string>> = {
  'every balance is the sum of its entries, and counts them': 'every balance is the sum of its entries',
  'every statement line follows from the one before it': 'every statement line follows from the line before',
  'every deposit is of a known kind, to a customer of its partner':
    'every deposit is of a known type and to a customer of its partner',
  'no reference credits twice': 'no reference was credited twice',
  'every credit was made under its reference, and every reference stands for one':
    'every credit has its reference, and every reference its credit',
  'every reference of a credit stands for one': 'every reference of a credit has its credit',
  'every deposit is in a state that can be, and only one on a chain was ever anything but credited':
    'every deposit is in a possible state, and only a deposit on a network was ever in another state than credited',
  'every deposit was told once, as it is': 'every state of a deposit has one event that matches it',
  'every adjustment is to a customer of its partner, and every reversal the exact inverse of its deposit':
    'every adjustment is to a customer of its partner, and every reversal undoes its deposit exactly',
  'every adjustment was made under its reference, and every reference stands for one':
    'every adjustment has its reference, and every reference its adjustment',
  'every reference of a adjustment stands for one': 'every reference of an adjustment has its adjustment',
  'every payout is in a state that can be, of a customer and a key of its partner':
    'every payout has a possible status, and a customer and a key of its partner',
  'no two payouts are one payment of the Pix network, or were sent under one id':
    'no two payouts share a Pix payment or a send id',
  'every payout that is on its way stands in the queue, and no other does':
    'the queue holds exactly the payouts in progress',
  'every row of payouts has its idempotency record, and the record matches it':
    'every payout has an idempotency record that matches it',
  'every idempotency record of pix.payout stands for its result or for a refusal':
    'every idempotency record of pix.payout has its payout or its refusal',
  'no two of payouts were made under one idempotency key within 24 hours':
    'no two payouts share an idempotency key within 24 hours',
  'every payout was told at each of its states, as it is':
    'every payout has a matching event for each of its statuses',
  'every transfer is in a state that can be, over a network that carries it, of a customer and a key of its partner':
    'every transfer has a possible status and network, and a customer and a key of its partner',
  'no two transfers are one transaction of their network': 'no two transfers share a transaction',
  'every transfer that is on its way stands in the queue, and no other does':
    'the queue holds exactly the transfers in progress',
  'every row of transfers has its idempotency record, and the record matches it':
    'every transfer has an idempotency record that matches it',
  'every idempotency record of onchain.transfer stands for its result or for a refusal':
    'every idempotency record of onchain.transfer has its transfer or its refusal',
  'no two of transfers were made under one idempotency key within 24 hours':
    'no two transfers share an idempotency key within 24 hours',
  'every transfer was told at each of its states, as it is':
    'every transfer has a matching event for each of its statuses',
  'every trade comes to what its price and its fees make of it':
    'every trade has the amounts that follow from its price and fees',
  'every trade was told once, as it is': 'every trade has one event that matches it',
  'only completed trades wait to be folded': 'only completed trades wait to be added to the treasury totals',
  'every completed trade was folded, or waits to be':
    'every completed trade is in the treasury totals, or waits to be added',
  'every payment of fees is to a partner, or a customer of it':
    'every payment of fees is to a partner or to one of its customers',
  'every payment of fees was told': 'every payment of fees has an event',
  'no reference pays fees twice': 'no reference paid fees twice',
  'every payment of fees was made under its reference, and every reference stands for one':
    'every payment of fees has its reference, and every reference its payment',
  'every reference of a payment of fees stands for one':
    'every reference of a payment of fees has its payment',
  'every payment of fees was told once, as it is': 'every payment of fees has one event that matches it',
  'every position has the amount, the cost and the result that its trades make':
    'every treasury position has the amount, cost and result that follow from its trades',
  'every event has its place in the log soon after it was written':
    'every event gets its position in the log soon after it was written',
  'every event is about an object of the kind that its type names':
    'every event is about an object of the type that it names',
  'every delivered delivery has a 2xx response': 'every delivery marked as delivered got a 2xx response',
  'every act of a person is a line of an unbroken log':
    'every action of a person is in the audit log, and its chain is unbroken',
}
