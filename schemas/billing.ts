import { type Static, Type } from 'typebox'
import {
  byPrintableName,
  closed,
  nameText,
  nullable,
  oneOf,
  pageQuery,
  timestamp,
} from './shared.ts'

const money = (options = {}) =>
  Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$', maxLength: 16, ...options })
/** As the price of a profile. */
const price = (options = {}) => Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,4})?$', ...options })

/** A calendar month in UTC. */
export const month = () => Type.String({ pattern: '^[1-9]\\d{3}-(0[1-9]|1[0-2])$' })

export const entryKinds = ['run', 'deployment', 'storage', 'correction'] as const

const filters = {
  /** By default the current one. */
  month: Type.Optional(month()),
  user: Type.Optional(Type.String({ maxLength: 256 })),
  project: Type.Optional(Type.String({ maxLength: 128 })),
  kind: Type.Optional(oneOf(...entryKinds)),
}

export const entriesQuery = closed({ ...pageQuery, ...filters })
export type EntryFilters = Pick<Static<typeof entriesQuery>, 'month' | 'user' | 'project' | 'kind'>

/** A row of the ledger. Rows are added and never changed: a negative one takes an earlier one back, or corrects it. */
export const entryRow = Type.Object({
  entry_id: Type.String(),
  kind: oneOf(...entryKinds),
  day: Type.String(),
  starts_at: timestamp(),
  ends_at: timestamp(),
  owner: Type.String(),
  /** Null: it belongs to a person, not to a project. */
  project: nullable(Type.String()),
  run_id: nullable(Type.String()),
  attempt: nullable(Type.Integer()),
  /** The GPU series; null for storage, corrections and purged runs. */
  series: nullable(Type.String()),
  /** Exact for `gpu_second`; rounded to millionths for `gb_hour`. */
  quantity: Type.String(),
  unit: nullable(oneOf('gpu_second', 'gb_hour')),
  price: Type.String(),
  price_unit: nullable(oneOf('gpu_hour', 'gb_month')),
  cost: Type.String(),
  currency: Type.String(),
  /** The entry that a correction refers to, and why. */
  corrects: nullable(Type.String()),
  reason: nullable(Type.String()),
})
export type EntryRow = Static<typeof entryRow>

export const summaryGroups = ['user', 'team', 'project', 'run', 'token', 'day', 'kind'] as const
export const summaryQuery = closed({
  ...pageQuery,
  ...filters,
  group: Type.Optional(oneOf(...summaryGroups)),
})

/** The cost of running attempts is part of it, up to now. */
export const summaryRow = Type.Object({
  /** A name, a run id, a UTC day or a kind; null for entries without one. */
  group: nullable(Type.String()),
  gpu_seconds: Type.Number(),
  gb_hours: Type.String(),
  cost: Type.String(),
  currency: Type.String(),
  entries: Type.Integer({ minimum: 0 }),
})
export type SummaryRow = Static<typeof summaryRow>

export const exportQuery = closed({ ...filters, format: Type.Optional(oneOf('csv', 'focus')) })

/** The body of `POST /api/billing/corrections`; `cost` is added to the bill. */
export const correctionInput = closed({
  entry_id: Type.String({ minLength: 1, maxLength: 256 }),
  cost: Type.String({ pattern: '^-?\\d{1,9}(\\.\\d{1,6})?$' }),
  reason: nameText(500),
})
export const correctionMade = Type.Object({ entry_id: Type.String() })

/** The body of `PUT /api/billing/rates`. */
export const ratesInput = closed({
  /** Now if it is left out or null; not in the past. */
  effective_at: Type.Optional(nullable(timestamp())),
  /** The price of a GPU hour, by series; profiles of other series keep theirs. */
  gpu: byPrintableName(price(), { maxProperties: 100 }),
  /** A month is 720 hours, a GB 1,000,000,000 bytes. */
  storage_per_gb_month: price({ default: '0' }),
})

/** The version that was set. */
export const ratesChanged = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  effective_at: timestamp(),
})

export const ratesQuery = closed(pageQuery)

/** A row of `GET /api/billing/rates`, newest first. */
export const ratesRow = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  state: oneOf('past', 'in_force', 'planned', 'replaced'),
  effective_at: timestamp(),
  currency: Type.String(),
  gpu: Type.Record(Type.String(), Type.String()),
  storage_per_gb_month: Type.String(),
  set_by: Type.String(),
  set_at: timestamp(),
})
export type RatesRow = Static<typeof ratesRow>

export const budgetScopes = ['user', 'project', 'team'] as const
export type BudgetScope = (typeof budgetScopes)[number]
export const budgetPath = Type.Object({
  scope: oneOf(...budgetScopes),
  name: Type.String({ minLength: 1, maxLength: 256 }),
})

export const budgetInput = closed({
  /** For each calendar month (UTC). */
  amount: money(),
  /** Whether queued jobs wait once it is spent. */
  hold: Type.Boolean({ default: false }),
})

/** The new budget. */
export const budgetSet = Type.Object({
  scope: oneOf(...budgetScopes),
  name: Type.String(),
  amount: Type.String(),
  hold: Type.Boolean(),
})

export const budgetsQuery = closed(pageQuery)

export const budgetRow = Type.Object({
  scope: oneOf(...budgetScopes),
  name: Type.String(),
  month: Type.String(),
  amount: Type.String(),
  hold: Type.Boolean(),
  /** This month so far, running attempts included. */
  spent: Type.String(),
  /** Spent by the end of the month at the rate so far. */
  forecast: Type.String(),
  currency: Type.String(),
  /** Whether jobs are being held. */
  holding: Type.Boolean(),
})
export type BudgetRow = Static<typeof budgetRow>
export const budgetGone = Type.Object({ ok: Type.Literal(true) })
