import type { RatesRow } from '../../../schemas/billing.ts'
import type { Api } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

const pricesOf = (gpu: Record<string, string>): string =>
  Object.entries(gpu)
    .map(([series, price]) => `${series}=${price}`)
    .join(' ')

export const describeRatesList = describe({ text: 'the prices that were set, newest first' })

export const ratesList = list<RatesRow>({
  path: '/api/billing/rates',
  shown: {
    columns: [
      { title: 'VERSION', cell: row => String(row.version), align: 'right' },
      { title: 'STATE', cell: row => row.state.replaceAll('_', ' ') },
      { title: 'FROM', cell: row => row.effective_at },
      { title: 'GPU-HOUR', cell: row => pricesOf(row.gpu) || '-', shrinks: true },
      { title: 'GB-MONTH', cell: row => row.storage_per_gb_month, align: 'right' },
      { title: 'BY', cell: row => row.set_by, drops: true },
    ],
    none: 'No rates were set: profiles have the prices that were given to each',
  },
})

type SetOptions = CommonOptions & Texts<'storage' | 'from'> & { gpu?: string[] }

export const describeRatesSet = describe({
  text: 'set prices, from now or from a later time on',
  options: {
    '--gpu <series=price...>': 'of a GPU-hour, e.g. H100=3.60; other series keep theirs',
    '--storage <price>': 'of a GB and month of 720 hours; that in force if left out',
    '--from <time>': 'e.g. 2026-12-01T00:00:00Z; now if left out',
  },
})

export const ratesSet = request<{ version: number; effective_at: string }, SetOptions>({
  async send({ api }, { gpu = [], storage, from }) {
    if (gpu.length === 0 && storage === undefined)
      throw usageFailure('Nothing to set', 'hint: forge admin rates set --help lists the options')
    const storage_per_gb_month = storage ?? (await inForce(api))
    return api.put('/api/billing/rates', {
      gpu: Object.fromEntries(gpu.map(priceOf)),
      storage_per_gb_month,
      ...(from !== undefined && { effective_at: from }),
    })
  },
  note: ({ version, effective_at }) => [`Version ${version} applies from ${effective_at} on`],
})

async function inForce(api: Api): Promise<string> {
  const rows = await api.get<RatesRow[]>('/api/billing/rates', { limit: 500 })
  return rows.find(({ state }) => state === 'in_force')?.storage_per_gb_month ?? '0'
}

function priceOf(text: string): [string, string] {
  const [series = '', price = ''] = text.split('=')
  if (series === '' || price === '')
    throw usageFailure(`--gpu ${text}: give a series and a price, e.g. H100=3.60`)
  return [series, price]
}
