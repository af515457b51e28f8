import { useQuery } from '@tanstack/react-query'
import { restorableDays } from '../../../../../schemas/runs/restorable.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Failure, Loading } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { NotFound } from '../../shell/wrong-turns.tsx'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords, wordsOf } from '../../words/words.ts'
import styles from './head.module.css'
import { pathOfRun, type RunRecord } from './use-run.ts'
import { words as ofRun } from './words.ts'

const words = wordsOf({
  deleted: ['deleted', '已删除'],
  deletedAt: ['Deleted', '删除于'],
  restorableUntil: ['It can be restored until', '可恢复至'],
})

/** The page of a run that cannot be read: people who may restore it are offered that. `error` is the failed read. */
export function Deleted({ runId, error }: { runId: string; error: unknown }) {
  const run = useQuery(reading<RunRecord>(pathOfRun(runId), { deleted: true }))
  if (run.isPending) return <Loading />
  return run.data ? <Restorable run={run.data} /> : <NotFound error={error} />
}

const dayMs = 86_400_000

function Restorable({ run }: { run: RunRecord }) {
  const say = { ...useWords(ofRun), ...useWords(words) }
  const language = useLanguage()
  const { run_id, short_id, name, project, owner, deleted_at } = run
  const { onSubmit, error, isBusy } = useSubmit(async () => {
    await request('POST', `${pathOfRun(run_id)}/restore`)
    await reread('/api/runs')
  })
  const until = new Date(Date.parse(String(deleted_at)) + restorableDays * dayMs)
  return (
    <form className={styles.head} onSubmit={onSubmit}>
      <div className={styles.title}>
        <h1>{visible(name ?? short_id)}</h1>
        <Badge>{say.deleted}</Badge>
        <span className={styles.actions}>
          <Button kind="main" type="submit" busy={isBusy}>
            {say.restore}
          </Button>
        </span>
      </div>
      <p className={styles.facts}>
        <span>{short_id}</span>
        <span>
          {say.project} {project}
        </span>
        <span>
          {say.by} {owner}
        </span>
      </p>
      <p role="status">
        {say.deletedAt} {deleted_at !== null && <Ago at={deleted_at} />}.{' '}
        {run.kept_because === null ? (
          <>
            {say.restorableUntil}{' '}
            <time dateTime={until.toISOString()}>{until.toLocaleDateString(language)}</time>.
          </>
        ) : (
          visible(run.kept_because)
        )}
      </p>
      <Failure error={error} />
    </form>
  )
}
