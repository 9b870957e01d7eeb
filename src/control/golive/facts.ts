import type { OperatorRole } from '../../core/actor.ts'
import type { Asset } from '../../core/money.ts'
import type { RailControl, RailName } from '../../money/custody/controls-store.ts'

/** What was found out, or why it could not be found out. What is not known never counts as good. */
export type FoundOut<T> = { readonly known: T } | { readonly unknown: string }

/** Everything that the checks of going live judge. Gathered first, outside of any transaction (`node/golive/gather.ts`). */
export type GoliveFacts = {
  readonly now: Date
  readonly settings: SettingFacts
  /** What a request to PUBLIC_URL/healthz got from this machine. */
  readonly public_page: FoundOut<PublicPage>
  /** The rails of production that are configured. */
  readonly rails: readonly RailFacts[]
  readonly unused_rails: readonly RailName[]
  readonly prices: FoundOut<PriceFacts>
  readonly operators: FoundOut<readonly OperatorFacts[]>
  /** What is left of the demo of a first start, in words. */
  readonly demo_left: FoundOut<readonly string[]>
  readonly backup: FoundOut<BackupFacts>
  readonly standby: FoundOut<StandbyFacts>
  readonly disks: readonly DiskFacts[]
  /** Undefined: the setting is absent. */
  readonly metrics: FoundOut<Answered> | undefined
  readonly prometheus: FoundOut<PrometheusFacts> | undefined
  readonly alertmanager: FoundOut<Answered> | undefined
  readonly mail: FoundOut<MailFacts>
  readonly audit: FoundOut<AuditFacts>
  readonly exceptions: FoundOut<number>
  /** This machine's clock minus the database's. */
  readonly database_clock: FoundOut<number>
  /** Undefined: no HTTPS service of another machine is configured. */
  readonly outside_clock: FoundOut<ClockReading> | undefined
}

export type SettingFacts = {
  readonly public_url: string | undefined
  readonly trusts_proxy: boolean
  readonly has_weak_key: boolean
  readonly database: 'embedded' | 'same_machine' | 'other_machine'
  readonly has_database_tls: boolean
  /** Names of settings that are set and only meant for tests. */
  readonly for_tests: readonly string[]
  readonly allows_private_webhooks: boolean
  readonly retention_days: { readonly events: number; readonly deliveries: number; readonly requests: number }
  readonly audit_every_ms: number
  readonly reconcile_every_ms: number
  readonly has_provider_standby: boolean
}

export type PublicPage = {
  readonly http: number
  /** Undefined: the address is not https. */
  readonly certificate: { readonly ends_at: Date; readonly problem: string | null } | undefined
  /** Whether the answer is that of /healthz of this service. */
  readonly is_service: boolean
}

export type RailFacts = {
  readonly rail: RailName
  readonly asset: Asset
  /** Whether gas is paid in a coin of its own. */
  readonly gas_coin: string | null
  /** Null: the set-up is right. */
  readonly check: FoundOut<string | null>
  /** The wallet that the settings name, or that the key has; undefined for Pix. */
  readonly wallet: FoundOut<string> | undefined
  /** Null: the key is on this node, or the signer in a process of its own answered now. Undefined for Pix. */
  readonly signer: FoundOut<string | null> | undefined
  /** Undefined for Pix. */
  readonly endpoints: { readonly healthy: number; readonly all: number } | undefined
  readonly control: FoundOut<RailControl>
  readonly held: FoundOut<HeldFacts | undefined>
  readonly reconciled: FoundOut<{ readonly difference: bigint; readonly at: Date } | undefined>
  /** Where the provider posts notices; undefined where it cannot tell. Null: nowhere. */
  readonly notices: FoundOut<NoticeAddress | null> | undefined
  /** The newest order that is final over the present wallet or account. */
  readonly round_trip: FoundOut<FinalOrder | undefined>
}

export type HeldFacts = { readonly amount: bigint; readonly gas: bigint; readonly age_ms: number | null }
export type NoticeAddress = { readonly is_ours: boolean; readonly host: string }
export type FinalOrder = { readonly id: string; readonly amount: bigint; readonly at: Date }

export type PriceFacts = {
  readonly from: 'exchanges' | 'file' | 'nowhere'
  readonly pairs: readonly {
    readonly pair: string
    readonly good_sources: number
    readonly is_fresh: boolean
  }[]
}

export type OperatorFacts = {
  readonly email: string
  readonly role: OperatorRole
  readonly second_factor: boolean
}

/** A backup holds everything up to `until`. `source`: its folder, or the tool that made it. */
export type NotedBackup = { readonly until: Date; readonly source: string }
export type BackupFacts = {
  readonly created: NotedBackup | undefined
  readonly verified: NotedBackup | undefined
}

export type StandbyFacts = {
  readonly standbys: readonly {
    readonly name: string
    /** Null: the database does not tell this role. */
    readonly state: string | null
    readonly is_synchronous: boolean | null
    readonly lag_ms: number
  }[]
}

export type DiskFacts = {
  readonly path: string
  readonly space: FoundOut<{ readonly free: bigint; readonly size: bigint }>
}

export type Answered = { readonly http: number }
export type PrometheusFacts = Answered & {
  /** How many nodes of this service Prometheus has figures of. */
  readonly nodes: number
}

export type MailFacts = {
  readonly is_set_up: boolean
  readonly sent_at: Date | null
  readonly failed_at: Date | null
  readonly error: string | null
}

/** `age_ms`: since the end of the last whole pass; null before the first one has ended. */
export type AuditFacts = { readonly age_ms: number | null; readonly findings: number }

/** `offset_ms`: this machine's clock minus the other one. Exact to `within_ms`. */
export type ClockReading = {
  readonly source: string
  readonly offset_ms: number
  readonly within_ms: number
}
