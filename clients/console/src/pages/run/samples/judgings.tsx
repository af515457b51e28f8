import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Judgement, JudgingRecord } from '../../../../../../schemas/rubrics/judgings.ts'
import { Button } from '../../../design/button.tsx'
import { Dialog } from '../../../design/dialog.tsx'
import { Select } from '../../../design/field.tsx'
import { FormEnd } from '../../../design/form-end.tsx'
import { Failure } from '../../../design/notice.tsx'
import { State } from '../../../design/state.tsx'
import { reading, reread } from '../../../session/api.ts'
import { request } from '../../../session/session.ts'
import { useAct } from '../../../session/use-act.ts'
import { usePages } from '../../../session/use-pages.ts'
import { useSubmit } from '../../../session/use-submit.ts'
import { shortNumber } from '../../../words/amounts.ts'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun } from '../use-run.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

const runningMs = 2_000

/** What a judging says of a round's samples, by sample. */
export type Judgements = ReadonlyMap<string, Judgement>

/** The judgings of a round, newest first, and the scores of the chosen one. */
export function useJudgings(run_id: string, step: number) {
  const path = `${pathOfRun(run_id)}/judgings`
  const [asked, setAsked] = useState<string | null>(null)
  const found = useQuery({
    ...reading<JudgingRecord[]>(path, { step, limit: 50 }),
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ state }) => state === 'running') ? runningMs : false,
  })
  const all = found.data ?? []
  const chosen = all.find(({ judging_id }) => judging_id === asked) ?? all[0] ?? null
  const scores = usePages<Judgement>(`${path}/${chosen?.judging_id ?? ''}`, {
    ...{ size: 500, pages: 2, keyOf: ({ sample_id }: Judgement) => sample_id },
    enabled: chosen !== null,
    everyMs: chosen?.state === 'running' && runningMs,
  })
  const { judging_id, scored = 0, cached = 0, failed = 0 } = chosen ?? {}
  const outcomes = scored + cached + failed
  // The last outcomes may come with the end, after which nothing is read again.
  useEffect(() => {
    if (judging_id !== undefined && outcomes > 0) void reread(`${path}/${judging_id}`)
  }, [path, judging_id, outcomes])
  const judgements: Judgements = new Map(
    chosen ? (scores.data ?? []).map(one => [one.sample_id, one]) : [],
  )
  return { path, all, chosen, choose: setAsked, judgements }
}

type Props = { run_id: string; step: number; judgings: ReturnType<typeof useJudgings> }

/** Which judging is shown, how far it is, and a button that begins another. */
export function Judgings({ run_id, step, judgings: { path, all, chosen, choose } }: Props) {
  const say = useWords(words)
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.controls}>
      {chosen && (
        <>
          <Select
            label={say.judging}
            value={chosen.judging_id}
            choices={all.map(one => ({ value: one.judging_id, text: titleOf(one) }))}
            onChange={choose}
          />
          <Progress of={chosen} />
          {chosen.state === 'running' && <Cancel of={chosen} path={path} />}
        </>
      )}
      <Button onClick={() => setOpen(true)}>{say.judge}</Button>
      {isOpen && <Ask {...{ run_id, step, path }} onClose={() => setOpen(false)} />}
    </div>
  )
}

const titleOf = ({ rubric, version, mean }: JudgingRecord): string =>
  `${rubric}@${version}${mean === null ? '' : ` (${shortNumber(mean, 3)})`}`

function Progress({ of }: { of: JudgingRecord }) {
  const say = useWords(words)
  const { state, scored, cached, failed, samples, reason, is_current } = of
  return (
    <span role="status">
      <State state={state} /> {say.judged(scored + cached, samples ?? 0)}
      {failed > 0 && <span className={styles.fault}> {say.unjudged(failed)}</span>}
      {reason !== null && <span className={styles.fault}> {visible(reason)}</span>}
      {!is_current && <span className={styles.soft}> {say.retired}</span>}
    </span>
  )
}

function Cancel({ of: { judging_id }, path }: { of: JudgingRecord; path: string }) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const cancel = async () => {
    await request('POST', `${path}/${judging_id}/cancel`)
    await reread(path)
  }
  return (
    <>
      <Button busy={isBusy} onClick={() => void act(cancel)}>
        {say.cancelJudging}
      </Button>
      <Failure error={error} />
    </>
  )
}

type Named = { owner: string; name: string }
type Deployed = { deployment_id: string; name: string; project: string }
type AskProps = { run_id: string; step: number; path: string; onClose: () => void }

function Ask({ step, path, onClose }: AskProps) {
  const say = useWords(words)
  const rubrics = useQuery(reading<Named[]>('/api/rubrics', { limit: 500 }))
  const judges = useQuery(reading<Deployed[]>('/api/deployments', { state: 'ready', limit: 500 }))
  const [rubric, setRubric] = useState<string | null>(null)
  const [judge, setJudge] = useState<string | null>(null)
  const named = (rubrics.data ?? []).map(({ owner, name }) => `${owner}/${name}`)
  const deployed = judges.data ?? []
  const by = rubric ?? named[0]
  const from = judge ?? deployed[0]?.deployment_id
  const { onSubmit, error, isBusy } = useSubmit(async () => {
    await request('POST', path, { body: { rubric: by, judge: from, step } })
    await reread(path)
    onClose()
  })
  const isReady = by !== undefined && from !== undefined
  const isRead = rubrics.data !== undefined && judges.data !== undefined
  return (
    <Dialog title={say.judgeStep(step)} onClose={onClose}>
      <form className={styles.tab} onSubmit={onSubmit}>
        {isRead && !isReady && <p>{say.nothingToJudge}</p>}
        {isReady && (
          <>
            <Select
              label={say.rubric}
              value={by}
              choices={named.map(value => ({ value, text: value }))}
              onChange={setRubric}
            />
            <Select
              label={say.judgedBy}
              value={from}
              choices={deployed.map(one => ({
                value: one.deployment_id,
                text: `${one.project}/${one.name}`,
              }))}
              onChange={setJudge}
            />
          </>
        )}
        <FormEnd error={error} isBusy={isBusy || !isReady} text={say.judge} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** The score of one sample, with the words of the judge. */
export function JudgementOf({ of }: { of: Judgement | undefined }) {
  const say = useWords(words)
  if (!of) return null
  const { score, reason, error, criteria } = of
  return (
    <section aria-label={say.judgement}>
      <h2>
        {say.judgement} {score === null ? '–' : shortNumber(score, 3)}
      </h2>
      {reason !== null && <p>{visible(reason)}</p>}
      {error !== null && <p className={styles.fault}>{visible(error)}</p>}
      {Object.keys(criteria).length > 1 && (
        <p className={styles.soft}>
          {Object.entries(criteria)
            .map(([name, value]) => `${visible(name)} ${shortNumber(value, 3)}`)
            .join(' · ')}
        </p>
      )}
    </section>
  )
}
