import { decimals } from '../../events/calculations/billing.ts'
import type { EntryRow } from '../../schemas/billing.ts'

/** `exactly`: a number, which needs no quotes although it may begin with a minus. */
export type Cell = string | { exactly: string } | null
export type Columns = Record<string, (row: EntryRow) => Cell>

type Kind = EntryRow['kind']

const services: Record<Kind, string> = {
  run: 'Training',
  deployment: 'Serving',
  storage: 'Storage',
  correction: 'Corrections',
}
const types: Record<Kind, string> = {
  run: 'Run',
  deployment: 'Replica',
  storage: 'Storage',
  correction: 'Correction',
}
const descriptions: Record<Kind, string> = {
  run: 'GPU time of a run',
  deployment: 'GPU time of a replica of a deployment',
  storage: 'Stored artifacts, models and datasets',
  correction: 'Correction',
}

const skuOf = ({ kind, series }: EntryRow): string =>
  kind === 'storage' ? 'storage' : `gpu:${series ?? 'unknown'}`

const tagsOf = ({ owner, project, run_id, attempt, corrects }: EntryRow) => ({
  owner,
  ...(project !== null && { project }),
  ...(run_id !== null && { run_id }),
  ...(attempt !== null && { attempt: String(attempt) }),
  ...(corrects !== null && { corrects }),
})

/** GPU hours, or GB months of 720 hours. */
function pricingQuantity({ quantity, unit }: EntryRow): string {
  const isNegative = quantity.startsWith('-')
  const [whole = '0', fraction = ''] = quantity.replace('-', '').split('.')
  const micro = BigInt(whole + fraction.padEnd(6, '0'))
  const text = decimals(micro, 1_000_000n * (unit === 'gpu_second' ? 3600n : 720n), 9)
  return isNegative ? `-${text}` : text
}

const nextMonth = (month: string): string => {
  const [year = 0, nth = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, nth, 1)).toISOString()
}

const seconds = (instant: string) => `${instant.slice(0, 19)}Z`
const number = (text: string): Cell => ({ exactly: text })
const isGpu = ({ unit }: EntryRow) => unit === 'gpu_second'

/** Columns of FOCUS 1.0; columns without a meaning here are empty. */
export const focus = (month: string): Columns => ({
  AvailabilityZone: () => null,
  BilledCost: row => number(row.cost),
  BillingAccountId: () => 'forge',
  BillingAccountName: () => 'Forge',
  BillingCurrency: row => row.currency,
  BillingPeriodEnd: () => seconds(nextMonth(month)),
  BillingPeriodStart: () => `${month}-01T00:00:00Z`,
  ChargeCategory: () => 'Usage',
  ChargeClass: row => (row.kind === 'correction' ? 'Correction' : null),
  ChargeDescription: row => row.reason ?? descriptions[row.kind],
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: row => seconds(row.ends_at),
  ChargePeriodStart: row => seconds(row.starts_at),
  CommitmentDiscountCategory: () => null,
  CommitmentDiscountId: () => null,
  CommitmentDiscountName: () => null,
  CommitmentDiscountStatus: () => null,
  CommitmentDiscountType: () => null,
  ConsumedQuantity: row => (row.unit === null ? null : number(row.quantity)),
  ConsumedUnit: row => (row.unit === null ? null : isGpu(row) ? 'GPU-Seconds' : 'GB-Hours'),
  ContractedCost: row => number(row.cost),
  ContractedUnitPrice: row => (row.unit === null ? null : number(row.price)),
  EffectiveCost: row => number(row.cost),
  InvoiceIssuerName: () => 'Forge',
  ListCost: row => number(row.cost),
  ListUnitPrice: row => (row.unit === null ? null : number(row.price)),
  PricingCategory: row => (row.unit === null ? null : 'Standard'),
  PricingQuantity: row => (row.unit === null ? null : number(pricingQuantity(row))),
  PricingUnit: row => (row.unit === null ? null : isGpu(row) ? 'GPU-Hours' : 'GB-Months'),
  ProviderName: () => 'Forge',
  PublisherName: () => 'Forge',
  RegionId: () => null,
  RegionName: () => null,
  ResourceId: row => row.run_id,
  ResourceName: row => row.run_id,
  ResourceType: row => (row.run_id === null ? null : types[row.kind]),
  ServiceCategory: row => (row.kind === 'storage' ? 'Storage' : 'AI and Machine Learning'),
  ServiceName: row => services[row.kind],
  SkuId: row => (row.unit === null ? null : skuOf(row)),
  SkuPriceId: row => (row.unit === null ? null : `${skuOf(row)}@${row.price}`),
  SubAccountId: row => row.project ?? row.owner,
  SubAccountName: row => row.project ?? row.owner,
  Tags: row => JSON.stringify(tagsOf(row)),
  // The names that focus-validator 1.0.0 asks for.
  ChargeType: row => (row.kind === 'correction' ? 'Adjustment' : 'Usage'),
  InvoiceIssuer: () => 'Forge',
  Provider: () => 'Forge',
  Publisher: () => 'Forge',
  ResourceID: row => row.run_id,
})
