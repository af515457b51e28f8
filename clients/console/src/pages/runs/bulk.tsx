import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { RunChange } from '../../../../../schemas/runs/runs.ts'
import { Button } from '../../design/button.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { changeRun } from '../run/change.ts'
import { StopDialog, TagDialog } from './bulk-dialogs.tsx'
import type { Chosen } from './choice.ts'
import { afterEdit, rowsAfter } from './live-state.ts'
import styles from './page.module.css'
import { showInLists } from './use-runs.ts'
import { words } from './words.ts'

type Props = { chosen: Chosen; onClear: () => void }

const isOver = ({ state }: RunRow) => !['pending', 'running'].includes(state)

/** Actions on several runs at once. Each is tried; failures are listed by id. */
export function BulkActions({ chosen, onClear }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [asks, setAsks] = useState<'stop' | 'tag' | null>(null)
  const { each, mark, told, undo, forget } = useBulk()
  if (chosen.size === 0 && told === null) return null
  const runs = [...chosen.values()]
  const going = runs.filter(run => !isOver(run))
  const compare = () =>
    void navigate({
      to: '/compare',
      search: { runs: runs.map(({ short_id }) => short_id).join(',') },
    })
  const close = () => setAsks(null)
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
      <Button onClick={() => setAsks('tag')} unless={runs.length === 0 && say.chooseSome}>
        {say.tag}
      </Button>
      <MarkButtons runs={runs} onClear={onClear} onMark={to => void mark(to, runs)} />
      <Button
        isDangerous
        onClick={() => setAsks('stop')}
        unless={going.length === 0 && say.allOver}
      >
        {say.stop}
      </Button>
      <Button
        kind="quiet"
        onClick={() => {
          forget()
          onClear()
        }}
      >
        {say.clear}
      </Button>
      {told !== null && <span role="status">{told}</span>}
      {undo !== null && (
        <Button kind="quiet" onClick={undo}>
          {say.undo}
        </Button>
      )}
      {asks === 'stop' && (
        <StopDialog
          runs={going}
          onClose={close}
          onStop={() => {
            close()
            void each(stop, going)
          }}
        />
      )}
      {asks === 'tag' && (
        <TagDialog
          onClose={close}
          onTag={tag => {
            close()
            void each(run => addTag(run, tag), runs)
          }}
        />
      )}
    </div>
  )
}

type MarkProps = { runs: readonly RunRow[]; onClear: () => void; onMark: (to: Mark) => void }

/** Where all runs have a mark already, the button removes it. */
function MarkButtons({ runs, onClear, onMark }: MarkProps) {
  const say = useWords(words)
  const none = runs.length === 0 && say.chooseSome
  const areStarred = runs.length > 0 && runs.every(run => run.starred)
  const areArchived = runs.length > 0 && runs.every(run => run.archived)
  // The runs leave this list.
  const archive = () => {
    onClear()
    onMark({ archived: !areArchived })
  }
  return (
    <>
      <Button onClick={() => onMark({ starred: !areStarred })} unless={none}>
        {areStarred ? say.unstar : say.star}
      </Button>
      <Button onClick={archive} unless={none}>
        {areArchived ? say.unarchive : say.archive}
      </Button>
    </>
  )
}

type Mark = { starred: boolean } | { archived: boolean }

function useBulk() {
  const say = useWords(words)
  const [told, setTold] = useState<string | null>(null)
  const [undo, setUndo] = useState<(() => void) | null>(null)
  /** Resolves with the runs for which it succeeded. */
  const each = async (
    work: (run: RunRow) => Promise<unknown>,
    among: readonly RunRow[],
    done: (n: number) => string = say.done,
  ): Promise<RunRow[]> => {
    setUndo(null)
    const faults = new Map<RunRow, string>()
    for (const run of among)
      await work(run).catch(error => faults.set(run, `${run.short_id}: ${error.message}`))
    setTold([done(among.length - faults.size), ...faults.values()].join('\n'))
    await reread('/api/runs', '/api/jobs')
    return among.filter(run => !faults.has(run))
  }
  const wordsOfMark = (mark: Mark) => {
    if ('starred' in mark) return mark.starred ? say.starredDone : say.unstarredDone
    return mark.archived ? say.archivedDone : say.unarchivedDone
  }
  const mark = async (to: Mark, among: readonly RunRow[]): Promise<void> => {
    const back: Mark = 'starred' in to ? { starred: !to.starred } : { archived: !to.archived }
    // Undo leaves runs alone that had the mark already.
    const others = among.filter(run => run['starred' in to ? 'starred' : 'archived'] !== isOn(to))
    const changed = await each(run => editRow(run, to), others, wordsOfMark(to))
    if (changed.length > 0)
      setUndo(() => () => void each(run => editRow(run, back), changed, wordsOfMark(back)))
  }
  const forget = () => {
    setTold(null)
    setUndo(null)
  }
  return { each, mark, told, undo, forget }
}

const isOn = (mark: Mark): boolean => ('starred' in mark ? mark.starred : mark.archived)

/** Changes a run, and shows what the server confirmed in its row at once. */
export async function editRow({ run_id }: RunRow, change: RunChange): Promise<void> {
  const edited = await changeRun(run_id, change)
  showInLists(rows => rowsAfter(rows, run => afterEdit(run, edited)))
}

const stop = ({ run_id, job_exists }: RunRow): Promise<unknown> =>
  request('POST', `/api/${job_exists ? 'jobs' : 'runs'}/${run_id}/stop`, { body: {} })

/** A row may predate tags that somebody has set since. */
async function addTag({ run_id }: RunRow, tag: string): Promise<unknown> {
  const { tags } = await request<RunRow>('GET', `/api/runs/${run_id}`)
  return changeRun(run_id, { tags: [...new Set([...tags, tag])] })
}
