import { useState } from 'react'
import { keysOf } from '../../../../../schemas/rubrics/scale.ts'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Text } from '../../design/talk.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { FormProps } from './form.ts'
import styles from './page.module.css'
import { useKeys } from './use-keys.ts'
import { words } from './work-words.ts'

/** Digits score the marked criterion and mark the next one. */
export function RubricForm({ item, draft, queue, work }: FormProps) {
  const say = useWords(words)
  const criteria = queue.rubric?.criteria ?? []
  const points = keysOf(queue.rubric ?? { scale_min: 0, scale_max: 1 })
  const [scores, setScores] = useState<Record<string, number>>(draft?.scores ?? {})
  const [marked, setMarked] = useState(0)
  const isComplete = criteria.every(({ name }) => scores[name] !== undefined)
  const mark = (nth: number) => setMarked(Math.max(0, Math.min(criteria.length - 1, nth)))
  const score = (nth: number, value: number) => {
    const name = criteria[nth]?.name
    if (name === undefined) return
    setScores({ ...scores, [name]: value })
    mark(nth + 1)
  }
  const send = () => {
    if (isComplete) work.answer({ scores })
  }
  useKeys({
    ...Object.fromEntries(points.map(({ key, value }) => [key, () => score(marked, value)])),
    ArrowDown: () => mark(marked + 1),
    ArrowUp: () => mark(marked - 1),
    Enter: send,
  })
  return (
    <>
      <section className={styles.response}>
        <h2>{say.answer}</h2>
        <Text text={item.responses[0] ?? ''} />
      </section>
      <div className={styles.criteria}>
        {criteria.map(({ name, description }, nth) => (
          <fieldset
            key={name}
            className={nth === marked ? `${styles.criterion} ${styles.marked}` : styles.criterion}
            aria-current={nth === marked || undefined}
          >
            <legend>{visible(name)}</legend>
            {description !== '' && <p className={layout.soft}>{visible(description)}</p>}
            <div className={styles.points}>
              {points.map(({ key, value }) => (
                <Button
                  key={key}
                  kind={scores[name] === value ? 'main' : 'plain'}
                  aria-pressed={scores[name] === value}
                  onClick={() => score(nth, value)}
                >
                  {value}
                  {String(value) !== key && (
                    <>
                      {' '}
                      <kbd>{key}</kbd>
                    </>
                  )}
                </Button>
              ))}
            </div>
          </fieldset>
        ))}
      </div>
      <div>
        <Button
          kind="main"
          onClick={send}
          busy={work.isBusy}
          unless={!isComplete && say.incomplete}
        >
          {say.send} <kbd>Enter</kbd>
        </Button>
      </div>
    </>
  )
}
