import { Written } from '../../../design/written.tsx'
import { reread } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { useWords } from '../../../words/words.ts'
import { changeRun } from '../change.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { words } from './words.ts'

/** The most that the server accepts. */
const maxLength = 16_384

/** The notes of a run. */
export function Notes({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const path = pathOfRun(run.run_id)
  return (
    <Written
      title={say.notes}
      text={run.notes}
      canEdit={run.deleted_at === null}
      add={say.addNotes}
      hint={say.notesHint}
      maxLength={maxLength}
      read={async () => (await request<RunRecord>('GET', path)).notes}
      save={async notes => {
        await changeRun(run.run_id, { notes })
        await reread('/api/runs')
      }}
    />
  )
}
