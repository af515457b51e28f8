import type { QuotaRequestRow } from '../../../schemas/approvals.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

const path = '/api/quota-requests'

export const describeQuotaRequests = describe({ text: 'your requests for a higher quota' })

export const quotaRequests = list<QuotaRequestRow>({
  path,
  shown: {
    columns: [
      { title: 'ID', cell: row => row.approval_id },
      { title: 'BY', cell: row => row.username },
      { title: 'WANTED', cell: wanted, shrinks: true },
      { title: 'UNTIL', cell: row => row.until },
      { title: 'STATE', cell: row => row.state },
    ],
    none: 'No requests: forge quota request asks for more',
  },
})

const limits = {
  gpus: ['max_concurrent_gpus', 'GPUs'],
  jobs: ['max_concurrent_jobs', 'jobs'],
  dailyGpuHours: ['daily_gpu_hours', 'GPU-hours a day'],
  storageGb: ['max_storage_gb', 'GB'],
} as const

function wanted(row: QuotaRequestRow): string {
  const named = Object.values(limits).flatMap(([limit, unit]) =>
    row[limit] === null ? [] : `${row[limit]} ${unit}`,
  )
  return named.join(', ')
}

export const describeQuotaRequest = describe({
  text: 'ask for a higher quota until a date',
  options: {
    '--gpus <count>': 'GPUs at once',
    '--jobs <count>': 'jobs at once',
    '--daily-gpu-hours <hours>': 'GPU-hours a day',
    '--storage-gb <gigabytes>': 'storage',
    '--until <date>': 'when the quota falls back, e.g. 2026-12-24',
    '--reason <text>': 'for those who decide',
  },
})

type Options = CommonOptions & Texts<keyof typeof limits | 'until' | 'reason'>

export const quotaRequest = request<QuotaRequestRow, Options>({
  async send({ api }, options) {
    const { until, reason } = options
    if (until === undefined || reason === undefined)
      throw usageFailure('Give --until and --reason', 'hint: forge quota request --help')
    const named = Object.entries(limits).flatMap(([option, [limit]]) => {
      const text = options[option as keyof typeof limits]
      return text === undefined ? [] : [[limit, countOf(text)] as const]
    })
    const body = { ...Object.fromEntries(named), until: endOf(until), reason }
    return api.post<QuotaRequestRow>(path, body, { creates: true })
  },
  data: ({ approval_id }) => approval_id,
  note: () => 'It waits for approval: forge approve ls --mine',
})

function countOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageFailure(`${text}: give a whole number`)
  return Number(text)
}

function endOf(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  if (Number.isNaN(Date.parse(time))) throw usageFailure(`--until ${text}: give a date`)
  return time
}
