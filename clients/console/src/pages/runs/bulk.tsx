import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { type Chosen, firstOf } from './choice.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Props = { chosen: Chosen; onClear: () => void }

const isOver = ({ state }: RunRow) => !['pending', 'running'].includes(state)

/** Actions on several runs at once. Each is tried; failures are listed by id. */
export function BulkActions({ chosen, onClear }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [asks, setAsks] = useState<'stop' | 'tag' | null>(null)
  const [told, setTold] = useState<string | null>(null)
  if (chosen.size === 0 && told === null) return null
  const runs = [...chosen.values()]
  const going = runs.filter(run => !isOver(run))
  const each = async (work: (run: RunRow) => Promise<unknown>, among: readonly RunRow[]) => {
    setAsks(null)
    const faults: string[] = []
    for (const run of among)
      await work(run).catch(error => faults.push(`${run.short_id}: ${error.message}`))
    setTold([say.done(among.length - faults.length), ...faults].join('\n'))
    await reread('/api/runs', '/api/jobs')
  }
  const compare = () =>
    void navigate({
      to: '/compare',
      search: { runs: runs.map(({ short_id }) => short_id).join(',') },
    })
  return (
    <div className={styles.bulk}>
      <span>{say.chosen(chosen.size)}</span>
      <Button
        kind="main"
        onClick={compare}
        unless={(chosen.size < 2 || chosen.size > 20) && say.compareFew}
      >
        {say.compare}
      </Button>
      <Button
        kind="danger"
        onClick={() => setAsks('stop')}
        unless={going.length === 0 && say.allOver}
      >
        {say.stop}
      </Button>
      <Button
        onClick={() => setAsks('tag')}
        unless={!runs.some(run => run.job_exists) && say.noJobs}
      >
        {say.tag}
      </Button>
      <Button
        kind="quiet"
        onClick={() => {
          setTold(null)
          onClear()
        }}
      >
        {say.clear}
      </Button>
      {told !== null && <span role="status">{told}</span>}
      {asks === 'stop' && (
        <StopDialog
          runs={going}
          onClose={() => setAsks(null)}
          onStop={() => void each(stop, going)}
        />
      )}
      {asks === 'tag' && (
        <TagDialog
          onClose={() => setAsks(null)}
          onTag={tag =>
            void each(
              run => addTag(run, tag),
              runs.filter(run => run.job_exists),
            )
          }
        />
      )}
    </div>
  )
}

const stop = ({ run_id, job_exists }: RunRow): Promise<unknown> =>
  request('POST', `/api/${job_exists ? 'jobs' : 'runs'}/${run_id}/stop`, { body: {} })

/** A row may predate tags that somebody has set since. */
async function addTag({ run_id }: RunRow, tag: string): Promise<unknown> {
  const { tags } = await request<RunRow>('GET', `/api/runs/${run_id}`)
  return request('PATCH', `/api/jobs/${run_id}`, { body: { tags: [...new Set([...tags, tag])] } })
}

type StopProps = { runs: readonly RunRow[]; onClose: () => void; onStop: () => void }

/** Names the affected runs, which need not be in view. */
function StopDialog({ runs, onClose, onStop }: StopProps) {
  const say = useWords(words)
  const { first, more } = firstOf(runs)
  return (
    <Dialog title={say.stop} onClose={onClose}>
      <p>{say.stopAll(runs.length)}</p>
      <ul className={styles.asked}>
        {first.map(run => (
          <li key={run.run_id}>
            <span className={styles.askedName}>
              {visible(run.name ?? run.short_id)}{' '}
              <span className={styles.soft}>
                {run.name !== null && `${run.short_id} · `}
                {run.project}
              </span>
            </span>
            <Badge state={run.job_state ?? run.state} />
          </li>
        ))}
        {more > 0 && <li className={styles.soft}>{say.andMore(more)}</li>}
      </ul>
      <Button kind="danger" onClick={onStop} unless={runs.length === 0 && say.allOver}>
        {say.stop}
      </Button>
    </Dialog>
  )
}

function TagDialog({ onClose, onTag }: { onClose: () => void; onTag: (tag: string) => void }) {
  const say = useWords(words)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onTag(String(new FormData(event.currentTarget).get('tag')).trim())
  }
  return (
    <Dialog title={say.tag} onClose={onClose}>
      <form onSubmit={submit} className={styles.search}>
        <TextField label={say.tagName} name="tag" required maxLength={64} autoFocus />
        <Button kind="main" type="submit">
          {say.tag}
        </Button>
      </form>
    </Dialog>
  )
}
