import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type {
  RewardHistogram,
  ValidationRound,
  ValidationSample,
} from '../../../../../../schemas/validation.ts'
import { Button } from '../../../design/button.tsx'
import { Select } from '../../../design/field.tsx'
import { More } from '../../../design/more.tsx'
import { Empty, Shown } from '../../../design/notice.tsx'
import { reading } from '../../../session/api.ts'
import { type Pages, usePages } from '../../../session/use-pages.ts'
import { shortNumber } from '../../../words/amounts.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { Histogram } from './histogram.tsx'
import { Judgings, useJudgings } from './judgings.tsx'
import { SampleList } from './list.tsx'
import { isWithin, rangeIn, textOfRange } from './reported.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

/** The responses of a model, by round. */
export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const path = `${pathOfRun(run.run_id)}/validation`
  // The newest round is the last one, so a few thousand are read at once.
  const rounds = usePages<ValidationRound>(path, {
    ...{ size: 500, pages: 6, keyOf: ({ step }: ValidationRound) => step },
    everyMs: run.ended_at === null && 5_000,
  })
  return (
    <Shown of={rounds}>
      {all => {
        const [newest] = [...all].sort((a, b) => b.step - a.step)
        return newest ? (
          <Rounds run={run} path={path} rounds={all} newest={newest} read={rounds} />
        ) : (
          <Empty text={say.none} command="forge.log_samples(step, samples)" />
        )
      }}
    </Shown>
  )
}

type RoundsProps = {
  run: RunRecord
  path: string
  rounds: readonly ValidationRound[]
  newest: ValidationRound
  read: Pages<ValidationRound>
}

function Rounds({ run, path, rounds, newest, read }: RoundsProps) {
  const say = useWords(words)
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const range = rangeIn(search.reward)
  const steps = rounds.map(({ step }) => step).sort((a, b) => a - b)
  const asked = search.step === undefined ? newest.step : Number(search.step)
  const round = rounds.find(({ step }) => step === asked) ?? newest
  const sort = search.sort ?? 'index'
  const go = (change: Record<string, string | undefined>) =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'samples' },
      search: old => ({ ...old, ...change }),
      replace: true,
      resetScroll: false,
    })
  const samples = usePages<ValidationSample>(`${path}/${round.step}`, {
    ...{ query: { sort }, size: 500, keyOf: ({ sample_id }: ValidationSample) => sample_id },
  })
  const judgings = useJudgings(run.run_id, round.step)
  const histogram = useQuery(reading<RewardHistogram>(`${path}/${round.step}/histogram`))
  return (
    <div className={styles.tab}>
      <Slider steps={steps} step={round.step} onStep={step => go({ step: String(step) })} />
      <More of={read} what={say.rounds} />
      <RoundFacts round={round} />
      <Judgings run_id={run.run_id} step={round.step} judgings={judgings} />
      <div className={styles.controls}>
        <Histogram
          data={histogram.data}
          range={range}
          onRange={next => go({ reward: textOfRange(next) })}
        />
        <Select
          label={say.sort}
          value={sort}
          choices={[
            { value: 'index', text: say.byIndex },
            { value: '-reward', text: say.best },
            { value: 'reward', text: say.worst },
          ]}
          onChange={next => go({ sort: next === 'index' ? undefined : next })}
        />
        {range && <Button onClick={() => go({ reward: undefined })}>{say.allRewards}</Button>}
      </div>
      <Shown of={samples}>
        {rows => (
          <>
            <More of={samples} />
            <SampleList
              path={path}
              judgements={judgings.judgements}
              samples={rows.filter(({ reward }) => isWithin(reward, range))}
            />
          </>
        )}
      </Shown>
    </div>
  )
}

type SliderProps = { steps: readonly number[]; step: number; onStep: (step: number) => void }

function Slider({ steps, step, onStep }: SliderProps) {
  const say = useWords(words)
  return (
    <label className={styles.slider}>
      {say.step(step)}
      <input
        type="range"
        min={0}
        max={steps.length - 1}
        value={steps.indexOf(step)}
        aria-valuetext={say.step(step)}
        onChange={event => onStep(steps[Number(event.target.value)] ?? step)}
      />
    </label>
  )
}

function RoundFacts({ round }: { round: ValidationRound }) {
  const say = useWords(words)
  const shown = (value: unknown) =>
    typeof value === 'number' ? shortNumber(value, 4) : String(value)
  return (
    <p className={styles.soft}>
      {say.samples(round.samples)}
      {round.reward.mean !== null && ` · ${say.mean} ${shown(round.reward.mean)}`}
      {round.accuracy !== null && ` · ${say.accuracy} ${shown(round.accuracy)}`}
      {!round.complete && ` · ${say.chunks(round.received_chunks, round.total_chunks)}`}
    </p>
  )
}
