import { Button } from '../../design/button.tsx'
import { Text } from '../../design/talk.tsx'
import { useWords } from '../../words/words.ts'
import type { FormProps } from './form.ts'
import styles from './page.module.css'
import { useKeys } from './use-keys.ts'
import { words } from './work-words.ts'

/** Two answers next to each other; a key for each, and one for neither. */
export function PairForm({ item, draft, work }: FormProps) {
  const say = useWords(words)
  const choose = (choice: 'a' | 'b' | 'tie') => () => work.answer({ choice })
  useKeys({ 1: choose('a'), 2: choose('b'), 0: choose('tie') })
  const [a = '', b = ''] = item.responses
  const sides = [
    { choice: 'a', key: 1, text: a, title: say.answerA },
    { choice: 'b', key: 2, text: b, title: say.answerB },
  ] as const
  const drafted = draft?.choice ?? null
  return (
    <>
      <div className={styles.columns}>
        {sides.map(({ choice, key, text, title }) => (
          <section
            key={choice}
            className={
              drafted === choice ? `${styles.response} ${styles.drafted}` : styles.response
            }
          >
            <h2>
              {title}
              {drafted === choice && ` · ${say.draft}`}
            </h2>
            <Text text={text} />
            <div>
              <Button kind="main" onClick={choose(choice)} busy={work.isBusy}>
                {say.better(key)} <kbd>{key}</kbd>
              </Button>
            </div>
          </section>
        ))}
      </div>
      <div>
        <Button onClick={choose('tie')} busy={work.isBusy}>
          {say.tie} <kbd>0</kbd>
          {drafted === 'tie' && ` · ${say.draft}`}
        </Button>
      </div>
    </>
  )
}
