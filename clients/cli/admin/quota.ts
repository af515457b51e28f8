import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Session, Texts } from '../program/session.ts'

type Quota = {
  max_concurrent_gpus: number
  max_concurrent_jobs: number
  daily_gpu_hours: number
  max_storage_gb: number
  allowed_profiles: string[]
  priority: number
  per_series: Record<string, { max_concurrent_gpus?: number; daily_gpu_hours?: number }>
  default: boolean
}

type SetOptions = CommonOptions &
  Texts<'gpus' | 'jobs' | 'dailyGpuHours' | 'storageGb' | 'profiles' | 'priority'> & {
    series?: string[]
  }

export const describeQuotaGet = describe({
  text: 'the limits of a user',
  operands: { '<username>': '' },
})

export const quotaGet = request<Quota>({
  send: ({ api }, _, username) => api.get<Quota>(`/api/admin/quotas/${segment(username)}`),
  data: quotaLines,
})

export const describeQuotaSet = describe({
  text: 'change the limits of a user; omitted options stay unchanged',
  operands: { '<username>': '' },
  options: {
    '--gpus <count>': 'GPUs at once',
    '--jobs <count>': 'jobs at once',
    '--daily-gpu-hours <hours>': '0: unlimited',
    '--storage-gb <gigabytes>': '0: unlimited',
    '--profiles <names>': 'the only ones allowed, separated by commas; an empty text: all',
    '--priority <number>': '',
    '--series <name=gpus...>': 'GPUs of a series at once, e.g. H100=8; H100= removes it',
  },
})

export const quotaSet = request<Quota, SetOptions>({
  async send({ api }, options, username) {
    const change = changeOf(options)
    const series = options.series ?? []
    if (Object.keys(change).length === 0 && series.length === 0)
      throw usageFailure(
        'Nothing to change',
        'hint: forge admin quota set --help lists the options',
      )
    // The API replaces the whole quota.
    const path = `/api/admin/quotas/${segment(username)}`
    const { default: _, ...present } = await api.get<Quota>(path)
    const per_series = withSeries(present.per_series, series)
    return api.post<Quota>('/api/admin/quotas', { username, ...present, ...change, per_series })
  },
  data: quotaLines,
})

function quotaLines(quota: Quota, { terminal }: Session): string[] {
  return rowsOf(quota).map(([name, text]) => `${terminal.paint('dim', name.padEnd(16))} ${text}`)
}

const orNoLimit = (amount: number) => (amount === 0 ? 'no limit' : String(amount))

const rowsOf = (quota: Quota): [string, string][] => [
  ['GPUs at once', String(quota.max_concurrent_gpus)],
  ['jobs at once', String(quota.max_concurrent_jobs)],
  ['GPU-hours a day', orNoLimit(quota.daily_gpu_hours)],
  ['storage in GB', orNoLimit(quota.max_storage_gb)],
  ['profiles', quota.allowed_profiles.join(', ') || 'all'],
  ['priority', String(quota.priority)],
  ...Object.entries(quota.per_series).map(([name, cap]): [string, string] => [
    `GPUs of ${name}`,
    String(cap.max_concurrent_gpus ?? 'no cap'),
  ]),
  ['set', quota.default ? 'no, these are the defaults' : 'by an admin'],
]

function changeOf(options: SetOptions): Partial<Quota> {
  const { gpus, jobs, dailyGpuHours, storageGb, profiles, priority } = options
  return {
    ...(gpus !== undefined && { max_concurrent_gpus: toNumber(gpus, '--gpus') }),
    ...(jobs !== undefined && { max_concurrent_jobs: toNumber(jobs, '--jobs') }),
    ...(dailyGpuHours !== undefined && {
      daily_gpu_hours: toNumber(dailyGpuHours, '--daily-gpu-hours'),
    }),
    ...(storageGb !== undefined && { max_storage_gb: toNumber(storageGb, '--storage-gb') }),
    ...(priority !== undefined && { priority: toNumber(priority, '--priority') }),
    ...(profiles !== undefined && { allowed_profiles: profiles.split(',').filter(Boolean) }),
  }
}

function withSeries(present: Quota['per_series'], named: readonly string[]): Quota['per_series'] {
  const caps = { ...present }
  for (const text of named) {
    const [name = '', gpus] = text.split('=')
    if (name === '' || gpus === undefined)
      throw usageFailure(`--series ${text}: give a name and a count, e.g. H100=8`)
    if (gpus === '') delete caps[name]
    else caps[name] = { ...caps[name], max_concurrent_gpus: toNumber(gpus, '--series') }
  }
  return caps
}

function toNumber(text: string, option: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number))
    throw usageFailure(`${option} ${text}: give a number`)
  return number
}
