import { Type as T } from 'typebox'
import { AssetName, Fields, Text, Timestamp, TimeText, Units } from '../../../http/schema.ts'
import { type ConsoleEndpoint, consoleEndpoint } from '../endpoint.ts'
import { ActedObject, HoldingObject, inWorld, Maybe, Sum } from './shared-schemas.ts'

const base = '/console/api/operator/{environment}' as const

const Finding = T.Object({
  check: T.String(),
  found: T.Integer(),
  examples: T.Array(
    T.Object({
      object_id: T.String({ description: 'The account, or whatever else it is about' }),
      facts: T.Record(T.String(), T.String()),
    }),
  ),
})

const ProofObject = T.Object({
  by: T.String({ description: 'The audit in the background, or who asked for it' }),
  started_at: Timestamp,
  finished_at: Timestamp,
  entries: T.String(),
  customers: T.String(),
  checks: T.Array(T.String()),
  sums: T.Record(T.String(), T.Record(T.String(), Sum), {
    description: 'Per asset and kind of account; each asset must sum to zero',
  }),
  found: T.Integer(),
  findings: T.Array(Finding),
})

const Running = T.Object({
  by: T.String(),
  started_at: Timestamp,
  done: T.Integer({ description: 'Checks that are done' }),
  of: T.Integer(),
})

const ProofState = T.Object({
  latest: Maybe(ProofObject),
  holdings: T.Array(HoldingObject, { description: 'By the sums of the latest proof; none before it' }),
  earlier: T.Array(
    T.Object({ by: T.String(), finished_at: Timestamp, found: T.Integer(), entries: T.String() }),
  ),
  running: Maybe(Running),
  /** Why the last run that was asked for failed. */
  failure: Maybe(T.String()),
  background: T.Object({
    last_finished_at: Maybe(Timestamp),
    findings: T.Integer(),
    stage: Maybe(T.String()),
  }),
})

export const getProof = consoleEndpoint({
  name: 'console.operator.proof.get',
  route: `GET ${base}/proof`,
  summary: 'The latest proof of the ledger, those before, and the one that runs',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: { status: 200, schema: ProofState },
})

export const startProof = consoleEndpoint({
  name: 'console.operator.proof.start',
  route: `POST ${base}/proof`,
  summary: 'Prove the ledger from its entries, in the background; one at a time',
  permit: 'operator.read',
  params: T.Object(inWorld),
  reply: { status: 200, schema: ProofState },
  errors: ['not_possible'],
})

export const noteStatement = consoleEndpoint({
  name: 'console.operator.statements.note',
  route: `POST ${base}/statements`,
  summary: 'Note what a bank or a wallet reports that it holds, to compare it with our books',
  permit: 'operator.decide',
  params: T.Object(inWorld),
  body: Fields({
    asset: AssetName,
    amount: Units,
    as_of: TimeText(),
    source: Text(200, 'Which statement says so'),
  }),
  reply: { status: 200, schema: ActedObject },
})

export const proofEndpoints: readonly ConsoleEndpoint[] = [getProof, startProof, noteStatement]
