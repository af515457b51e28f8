import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { RetentionReport, RunRetention } from '../../../../../schemas/artifacts/retention.ts'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { bytesOf } from '../../words/amounts.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './page.module.css'
import { type Rules, rulesOf } from './retention-rules.ts'

const own = wordsOf({
  title: ['Retention', '保留策略'],
  hint: [
    'Deletes checkpoints that runs no longer need. Without numbers each job’s own rules apply, and other runs stay unchanged. The newest checkpoint always stays, as do those that a run needs.',
    '删除运行不必保留的检查点。不填数字时按各任务自己的规则，其他运行不变。最新检查点和被其他运行需要的检查点始终保留。',
  ],
  project: ['Project', '项目'],
  latest: ['Keep the newest', '保留最新'],
  best: ['Keep the best', '保留最佳'],
  every_nth: ['Keep every nth step', '每 n 步保留'],
  older: ['Older than (days)', '早于（天）'],
  preview: ['Preview', '预览'],
  apply: ['Delete them', '删除'],
  sure: [
    (n: number, size: string) => `Delete ${n} checkpoints, ${size}?`,
    (n: number, size: string) => `删除 ${n} 个检查点，共 ${size}？`,
  ],
  forGood: ['They cannot be restored.', '删除后无法恢复。'],
  nothing: ['Nothing would be deleted.', '没有可删除的检查点。'],
  gone: [
    (n: number, size: string) => `Deleted ${n} checkpoints, ${size}.`,
    (n: number, size: string) => `已删除 ${n} 个检查点，共 ${size}。`,
  ],
  would: [
    (n: number, size: string) => `${n} checkpoints would be deleted, ${size}`,
    (n: number, size: string) => `将删除 ${n} 个检查点，共 ${size}`,
  ],
  run: ['Run', '运行'],
  goes: ['Deleted', '删除'],
  frees: ['Frees', '释放'],
  kept: ['Kept by the rules', '按规则保留'],
  needed: ['Needed by runs', '被运行需要'],
  first: ['Preview it first', '请先预览'],
  paths: ['Checkpoints', '检查点'],
})

type Total = Pick<RetentionReport, 'artifacts' | 'freed_bytes' | 'runs' | 'dry_run'>

/** All pages of the report: one call covers 50 runs. */
async function everyRun(rules: Rules, dry_run: boolean): Promise<Total> {
  const total: Total = { artifacts: 0, freed_bytes: 0, runs: [], dry_run }
  let after: string | null = null
  do {
    const body = { ...rules, dry_run, ...(after !== null && { after }) }
    const page: RetentionReport = await request('POST', '/api/admin/retention', { body })
    total.artifacts += page.artifacts
    total.freed_bytes += page.freed_bytes
    total.runs.push(...page.runs)
    after = page.next
  } while (after !== null)
  return total
}

export function Section() {
  const tell = useWords(own)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const [seen, setSeen] = useState<{ rules: Rules; total: Total } | null>(null)
  const [isAsking, setAsking] = useState(false)
  const run = async (rules: Rules, isDry: boolean) => {
    setBusy(true)
    setError(null)
    try {
      setSeen({ rules, total: await everyRun(rules, isDry) })
      if (!isDry) await reread('/api/runs', '/api/jobs')
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const preview = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void run(rulesOf(new FormData(event.currentTarget)), true)
  }
  const isReady = seen?.total.dry_run && seen.total.artifacts > 0
  const number = { type: 'number', min: 0, step: 1 }
  return (
    <Panel title={tell.title}>
      <p className={styles.soft}>{tell.hint}</p>
      <form className={styles.filters} onSubmit={preview} onChange={() => setSeen(null)}>
        <TextField label={tell.project} name="project" autoComplete="off" />
        <TextField label={tell.latest} name="latest" {...number} />
        <TextField label={tell.best} name="best" {...number} />
        <TextField label={tell.every_nth} name="every_nth" {...number} min={1} />
        <TextField label={tell.older} name="older_than_days" {...number} min={1} />
        <span className={styles.row}>
          <Button type="submit" kind="main" busy={busy}>
            {tell.preview}
          </Button>
        </span>
        <span className={styles.row}>
          <Button isDangerous unless={!isReady && tell.first} onClick={() => setAsking(true)}>
            {tell.apply}
          </Button>
        </span>
      </form>
      <Failure error={error} />
      {seen && <Report total={seen.total} />}
      {isAsking && seen && (
        <Ask
          title={tell.sure(seen.total.artifacts, bytesOf(seen.total.freed_bytes))}
          text={tell.apply}
          isDangerous
          busy={busy}
          onYes={() => void run(seen.rules, false).then(() => setAsking(false))}
          onClose={() => setAsking(false)}
        >
          <p>{tell.forGood}</p>
        </Ask>
      )}
    </Panel>
  )
}

function Report({ total }: { total: Total }) {
  const tell = useWords(own)
  const size = bytesOf(total.freed_bytes)
  const columns: Column<RunRetention>[] = [
    {
      key: 'run',
      title: tell.run,
      cell: run => (
        <Link to="/runs/$run_id" params={{ run_id: run.short_id }}>
          {run.short_id}
        </Link>
      ),
    },
    { key: 'project', title: tell.project, cell: run => run.project },
    { key: 'goes', title: tell.goes, isNumber: true, cell: run => run.artifacts.length },
    { key: 'frees', title: tell.frees, isNumber: true, cell: run => bytesOf(run.freed_bytes) },
    { key: 'kept', title: tell.kept, isNumber: true, cell: run => run.kept },
    { key: 'needed', title: tell.needed, isNumber: true, cell: run => run.protected_total },
    {
      key: 'paths',
      title: tell.paths,
      cell: run => (
        <span className={styles.long}>{run.artifacts.map(({ path }) => path).join(', ')}</span>
      ),
    },
  ]
  if (total.artifacts === 0 && total.dry_run) return <Empty text={tell.nothing} />
  return (
    <>
      <p role="status">
        {total.dry_run ? tell.would(total.artifacts, size) : tell.gone(total.artifacts, size)}
      </p>
      <Table caption={tell.run} columns={columns} rows={total.runs} keyOf={run => run.run_id} />
    </>
  )
}
