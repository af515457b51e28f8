import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import type { RatesRow } from '../../../../../schemas/billing.ts'
import { TextArea, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { Empty } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { words } from './words.ts'

const path = '/api/billing/rates'

const pricesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map(line => line.trim())
      .filter(Boolean)
      .map(line => {
        const [series = '', price = ''] = line.split('=')
        return [series.trim(), price.trim()]
      }),
  )

/** The versions of the prices, and a form for the next one. */
export function Rates() {
  const say = useWords(words)
  const language = useLanguage()
  const rates = useQuery(reading<RatesRow[]>(path, { limit: 500 }))
  const set = useAct()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const from = String(given.get('from'))
    const body = {
      gpu: pricesOf(String(given.get('gpu'))),
      storage_per_gb_month: String(given.get('storage')),
      ...(from !== '' && { effective_at: `${from}:00Z` }),
    }
    void set.act(async () => {
      await request('PUT', path, { body })
      await reread(path, '/api/profiles')
    })
  }
  return (
    <Panel title={say.rates}>
      <QueryTable
        of={rates}
        none={<Empty text={say.noRates} />}
        caption={say.rates}
        keyOf={row => String(row.version)}
        columns={[
          { key: 'version', title: say.version, isNumber: true, cell: row => row.version },
          { key: 'state', title: say.state, cell: row => say[row.state] },
          {
            key: 'from',
            title: say.from,
            cell: row => new Date(row.effective_at).toLocaleString(language),
          },
          {
            key: 'gpu',
            title: say.perHour,
            cell: row =>
              Object.entries(row.gpu)
                .map(([series, price]) => `${series} ${price}`)
                .join(', '),
          },
          {
            key: 'storage',
            title: say.perMonth,
            isNumber: true,
            cell: row => row.storage_per_gb_month,
          },
        ]}
      />
      <form className={layout.controls} onSubmit={submit}>
        <TextArea label={say.prices} name="gpu" rows={3} />
        <TextField
          label={say.storage}
          name="storage"
          inputMode="decimal"
          defaultValue="0"
          required
        />
        <TextField label={say.fromHelp} name="from" type="datetime-local" />
        <FormEnd error={set.error} isBusy={set.isBusy} text={say.setRates} />
      </form>
    </Panel>
  )
}
