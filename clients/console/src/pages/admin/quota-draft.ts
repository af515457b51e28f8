import type { Quota, QuotaInput } from '../../../../../schemas/quotas.ts'

/** The numeric limits, in the order of the table. */
export const amounts = [
  'max_concurrent_gpus',
  'max_concurrent_jobs',
  'daily_gpu_hours',
  'max_storage_gb',
  'priority',
] as const
export type Amount = (typeof amounts)[number]

/** Only these can be fractional. */
export const stepOf = (amount: Amount): 1 | 'any' =>
  amount === 'daily_gpu_hours' || amount === 'max_storage_gb' ? 'any' : 1

/** `H100=8, A100=4/24`: concurrent GPUs of each series, and after the slash GPU-hours a day; either may be omitted. */
export const textOfSeries = (series: Quota['per_series']): string =>
  Object.entries(series)
    .map(([name, { max_concurrent_gpus: gpus, daily_gpu_hours: hours }]) => {
      const most = gpus === undefined ? '' : String(gpus)
      return `${name}=${hours === undefined ? most : `${most}/${hours}`}`
    })
    .join(', ')

/** Null for text that cannot be parsed. */
export function seriesOf(text: string): Quota['per_series'] | null {
  const series: [string, Quota['per_series'][string]][] = []
  for (const part of listOf(text)) {
    const [, name, gpus, hours] =
      /^([^=\s]+)\s*=\s*(\d{1,9})?\s*(?:\/\s*(\d{1,9}(?:\.\d+)?))?$/.exec(part) ?? []
    if (name === undefined || (gpus === undefined && hours === undefined)) return null
    series.push([
      name,
      {
        ...(gpus !== undefined && { max_concurrent_gpus: Number(gpus) }),
        ...(hours !== undefined && { daily_gpu_hours: Number(hours) }),
      },
    ])
  }
  return new Set(series.map(([name]) => name)).size === series.length
    ? Object.fromEntries(series)
    : null
}

export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== ''),
  ),
]

/** The quota in a form; null if the limits by series cannot be parsed. */
export function quotaOf(username: string, form: FormData): QuotaInput | null {
  const text = (name: string) => String(form.get(name) ?? '')
  const per_series = seriesOf(text('per_series'))
  if (per_series === null) return null
  return {
    username,
    max_concurrent_gpus: Number(text('max_concurrent_gpus')),
    max_concurrent_jobs: Number(text('max_concurrent_jobs')),
    daily_gpu_hours: Number(text('daily_gpu_hours')),
    max_storage_gb: Number(text('max_storage_gb')),
    priority: Number(text('priority')),
    allowed_profiles: listOf(text('allowed_profiles')),
    per_series,
  }
}
