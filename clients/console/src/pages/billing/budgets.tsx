import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { BudgetRow } from '../../../../../schemas/billing.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Checkbox, Select, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Share } from '../../design/share.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const path = '/api/budgets'
const pathOf = (scope: string, name: string) => `${path}/${scope}/${encodeURIComponent(name)}`

/** Budgets with the amounts spent, and a form to set one. */
export function Budgets() {
  const say = useWords(words)
  const budgets = useQuery(reading<BudgetRow[]>(path, { limit: 500 }))
  const { act, error } = useAct()
  const remove = ({ scope, name }: BudgetRow) =>
    act(async () => {
      await request('DELETE', pathOf(scope, name))
      await reread(path)
    })
  const jobsOf = ({ holding, hold }: BudgetRow) =>
    holding ? <Badge>{say.held}</Badge> : hold ? say.hold : say.start
  return (
    <Panel title={say.budgets}>
      <QueryTable
        of={budgets}
        none={<Empty text={say.noBudgets} />}
        caption={say.budgets}
        keyOf={row => `${row.scope} ${row.name}`}
        columns={[
          { key: 'of', title: say.of, cell: row => `${say[row.scope]} ${row.name}` },
          {
            key: 'spent',
            title: say.spent,
            isNumber: true,
            cell: row => <Num value={Number(row.spent)} label={row.spent} />,
          },
          {
            key: 'share',
            title: say.share,
            cell: row => (
              <Share
                part={Number(row.spent)}
                whole={Number(row.amount)}
                label={`${say.share}: ${row.name}`}
              />
            ),
          },
          { key: 'budget', title: say.budget, isNumber: true, cell: row => row.amount },
          {
            key: 'forecast',
            title: say.forecast,
            isNumber: true,
            cell: row => <Num value={Number(row.forecast)} label={row.forecast} />,
          },
          { key: 'jobs', title: say.jobs, cell: jobsOf },
          {
            key: 'remove',
            title: '',
            cell: row => (
              <Button kind="quiet" onClick={() => void remove(row)}>
                {say.remove}
              </Button>
            ),
          },
        ]}
      />
      <Failure error={error} />
      <SetBudget />
    </Panel>
  )
}

function SetBudget() {
  const say = useWords(words)
  const [scope, setScope] = useState<BudgetRow['scope']>('project')
  const { act, error, isBusy } = useAct()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const body = { amount: given.get('amount'), hold: given.get('hold') === 'on' }
    void act(async () => {
      await request('PUT', pathOf(scope, String(given.get('name'))), { body })
      await reread(path)
    })
  }
  return (
    <form className={styles.controls} onSubmit={submit}>
      <Select
        label={say.scope}
        value={scope}
        choices={(['project', 'user', 'team'] as const).map(value => ({ value, text: say[value] }))}
        onChange={setScope}
      />
      <TextField label={say.name} name="name" required />
      <TextField
        label={say.amount}
        name="amount"
        inputMode="decimal"
        pattern="\d{1,9}(\.\d{1,6})?"
        required
      />
      <Checkbox label={say.holds} name="hold" />
      <FormEnd error={error} isBusy={isBusy} text={say.set} />
    </form>
  )
}
