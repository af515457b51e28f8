import { type KeyboardEvent, useState } from 'react'
import type { Judgement } from '../../../../../../schemas/rubrics/judgings.ts'
import type { ValidationSample } from '../../../../../../schemas/validation.ts'
import { More } from '../../../design/more.tsx'
import { Shown } from '../../../design/notice.tsx'
import { Option } from '../../../design/option.tsx'
import { usePages } from '../../../session/use-pages.ts'
import { shortNumber } from '../../../words/amounts.ts'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import { diffOf } from './diff.ts'
import { JudgementOf, type Judgements } from './judgings.tsx'
import { reportedTextOf } from './reported.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { path: string; samples: readonly ValidationSample[]; judgements: Judgements }

const rewardOf = ({ reward }: ValidationSample): string =>
  typeof reward === 'number' ? shortNumber(reward, 3) : (reward ?? '–')

/** Samples on the left, the selected one on the right. `j` and `k` move to the next and the previous one. */
export function SampleList({ path, samples, judgements }: Props) {
  const say = useWords(words)
  const [at, setAt] = useState(0)
  const chosen = samples[Math.min(at, samples.length - 1)]
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    setAt(Math.max(0, Math.min(samples.length - 1, at + by)))
  }
  if (!chosen) return <p className={styles.soft}>{say.noneFound}</p>
  return (
    <div className={styles.columns}>
      <div
        className={styles.list}
        role="listbox"
        tabIndex={0}
        aria-label={say.title}
        aria-activedescendant={`sample-${chosen.sample_id}`}
        onKeyDown={onKeyDown}
      >
        {samples.map((sample, nth) => (
          <Option
            key={sample.sample_id}
            id={`sample-${sample.sample_id}`}
            isChosen={sample === chosen}
            className={styles.item}
            onClick={() => setAt(nth)}
          >
            <span className={styles.reward}>{rewardOf(sample)}</span>
            <span className={styles.start}>
              {visible((sample.user ?? sample.assistant ?? '').slice(0, 200))}
            </span>
          </Option>
        ))}
      </div>
      <Sample path={path} sample={chosen} judgement={judgements.get(chosen.sample_id)} />
    </div>
  )
}

type SampleProps = {
  path: string
  sample: ValidationSample
  judgement: Judgement | undefined
}

function Sample({ path, sample, judgement }: SampleProps) {
  const say = useWords(words)
  const [against, setAgainst] = useState<number | 'reference' | null>(null)
  const key = sample.sample_key
  const history = usePages<ValidationSample>(`${path}/prompts/${encodeURIComponent(key ?? '')}`, {
    size: 500,
    keyOf: ({ sample_id }) => sample_id,
    enabled: key !== null,
  })
  const others = (history.data ?? []).filter(({ step }) => step !== sample.step)
  const reference = sample.extra?.reference
  const before =
    against === 'reference'
      ? reportedTextOf(reference)
      : (others.find(({ step }) => step === against)?.assistant ?? null)
  return (
    <article className={styles.sample}>
      <h2>{say.prompt}</h2>
      <pre className={styles.text}>{visible(sample.user ?? '–')}</pre>
      <header className={styles.controls}>
        <h2>
          {say.answer} · {say.reward} {rewardOf(sample)}
        </h2>
        <select
          aria-label={say.compare}
          value={against ?? ''}
          onChange={({ target: { value } }) =>
            setAgainst(value === '' ? null : value === 'reference' ? value : Number(value))
          }
        >
          <option value="">{say.compare}</option>
          {reference !== undefined && <option value="reference">{say.reference}</option>}
          {others.map(({ step }) => (
            <option key={step} value={step}>
              {say.step(step)}
            </option>
          ))}
        </select>
      </header>
      {before === null ? (
        <pre className={styles.text}>{visible(sample.assistant ?? '–')}</pre>
      ) : (
        <Diff before={visible(before)} after={visible(sample.assistant ?? '')} />
      )}
      <JudgementOf of={judgement} />
      {key !== null && (
        <Shown of={history}>
          {all => (
            <p className={styles.soft}>
              {say.through}{' '}
              {[...all]
                .sort((a, b) => a.step - b.step)
                .map(one => `${one.step}: ${rewardOf(one)}`)
                .join(' · ')}
            </p>
          )}
        </Shown>
      )}
      <More of={history} />
      {sample.extra !== null && (
        <details>
          <summary>{say.extra}</summary>
          <pre className={styles.text}>{visible(JSON.stringify(sample.extra, null, 2))}</pre>
        </details>
      )}
    </article>
  )
}

function Diff({ before, after }: { before: string; after: string }) {
  let at = 0
  return (
    <pre className={styles.text}>
      {diffOf(before, after).map(({ kind, text }) => {
        at += text.length
        const key = `${kind} ${at}`
        if (kind === 'added') return <ins key={key}>{text}</ins>
        return kind === 'removed' ? <del key={key}>{text}</del> : <span key={key}>{text}</span>
      })}
    </pre>
  )
}
