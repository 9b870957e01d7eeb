import type { ConsoleEndpoint } from '../endpoint.ts'
import { actsEndpoints } from './acts-contract.ts'
import { deskEndpoints } from './desk-contract.ts'
import { goliveEndpoints } from './golive-contract.ts'
import { houseEndpoints } from './house-contract.ts'
import { partnersEndpoints } from './partners-contract.ts'
import { peopleOfOperatorEndpoints } from './people-contract.ts'
import { proofEndpoints } from './proof-contract.ts'
import { proposalsEndpoints } from './proposals-contract.ts'
import { railsEndpoints } from './rails-contract.ts'
import { viewEndpoints } from './view-contract.ts'

export const operatorEndpoints: readonly ConsoleEndpoint[] = [
  ...houseEndpoints,
  ...railsEndpoints,
  ...partnersEndpoints,
  ...deskEndpoints,
  ...proposalsEndpoints,
  ...proofEndpoints,
  ...goliveEndpoints,
  ...actsEndpoints,
  ...peopleOfOperatorEndpoints,
  ...viewEndpoints,
]
