import type { TeamDetail } from '../../../../../schemas/teams.ts'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Panel } from '../../design/panel.tsx'
import { Share } from '../../design/share.tsx'
import { Table } from '../../design/table.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { list, pathOf } from './paths.ts'
import { words } from './words.ts'

type Props = { team: TeamDetail; maySet: boolean }
type Limit = keyof TeamDetail['pool']

/** The pool of the team, and how much of it is in use. */
export function Pool({ team, maySet }: Props) {
  const say = useWords(words)
  const { pool, use } = team
  const rows: { limit: Limit; title: string; used: number }[] = [
    { limit: 'max_concurrent_gpus', title: say.gpus, used: use.concurrent_gpus },
    { limit: 'max_concurrent_jobs', title: say.jobs, used: use.concurrent_jobs },
    { limit: 'daily_gpu_hours', title: say.hours, used: Number(use.gpu_hours_today) },
  ]
  return (
    <Panel title={say.pool}>
      <Table
        caption={say.pool}
        rows={rows}
        keyOf={one => one.limit}
        columns={[
          { key: 'what', title: say.pool, cell: one => one.title },
          { key: 'used', title: say.used, isNumber: true, cell: one => one.used },
          {
            key: 'limit',
            title: say.limit,
            isNumber: true,
            cell: one => pool[one.limit] ?? say.noLimit,
          },
          {
            key: 'share',
            title: '',
            cell: ({ limit, title, used }) => {
              const whole = pool[limit]
              return whole !== null && <Share part={used} whole={whole} label={title} />
            },
          },
        ]}
      />
      {maySet && <SetPool team={team} titles={rows} />}
    </Panel>
  )
}

function SetPool({
  team: { name, pool },
  titles,
}: {
  team: TeamDetail
  titles: readonly { limit: Limit; title: string }[]
}) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const limits = titles.map(({ limit }) => {
      const text = String(given.get(limit)).trim()
      return [limit, text === '' ? null : Number(text)]
    })
    await request('PATCH', pathOf(name), { body: { pool: Object.fromEntries(limits) } })
    await reread(list)
  })
  return (
    <form className={styles.controls} onSubmit={onSubmit}>
      {titles.map(({ limit, title }) => (
        <TextField
          key={limit}
          label={title}
          hint={say.limitHint}
          name={limit}
          type="number"
          min={0}
          step={limit === 'daily_gpu_hours' ? 'any' : 1}
          defaultValue={pool[limit] ?? ''}
        />
      ))}
      <FormEnd error={error} isBusy={isBusy} text={say.setPool} />
    </form>
  )
}
