import { Link } from '@tanstack/react-router'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Markdown } from '../../design/markdown.tsx'
import { messagesIn } from '../../design/messages.ts'
import { Failure, Loading } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Talk, Text } from '../../design/talk.tsx'
import { useSeconds } from '../../design/time.tsx'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { clockOf } from './clock.ts'
import { EditForm } from './edit-form.tsx'
import type { FormProps } from './form.ts'
import styles from './page.module.css'
import { PairForm } from './pair-form.tsx'
import type { Claim, Detail } from './paths.ts'
import { RubricForm } from './rubric-form.tsx'
import { ShownQueue } from './shown-queue.tsx'
import { useKeys } from './use-keys.ts'
import { useWork, type Work } from './use-work.ts'
import { words } from './work-words.ts'

/** The items of a queue, one by one, by keyboard alone. */
export const Page = () => <ShownQueue>{queue => <Working queue={queue} />}</ShownQueue>

function Working({ queue }: { queue: Detail }) {
  const say = useWords(words)
  const work = useWork(queue.queue_id)
  const { claim, error, late, isBusy } = work
  useKeys({ s: work.skip, u: work.undo })
  return (
    <div className={layout.sheet}>
      <Head queue={queue} />
      <Failure error={error} />
      {late !== null && <p role="status">{claim?.draft ? say.wasLate : say.wasTaken}</p>}
      {claim === null ? (
        error === null && <Loading />
      ) : claim.item === null ? (
        <Done claim={claim} work={work} />
      ) : (
        <Item
          key={`${claim.item.item} ${claim.expires_at}`}
          {...{ claim, queue, work }}
          item={claim.item}
        />
      )}
      {claim !== null && (
        <div className={layout.row}>
          {claim.item !== null && (
            <Button onClick={work.skip} busy={isBusy}>
              {say.skip} <kbd>s</kbd>
            </Button>
          )}
          <Button
            onClick={work.undo}
            busy={isBusy}
            unless={claim.last === null && say.nothingToUndo}
          >
            {say.undo} <kbd>u</kbd>
          </Button>
        </div>
      )}
      <p className={styles.keys}>
        {say.keys}: {say.keysOf(queue.kind)} · {say.moreKeys}
      </p>
      {queue.instructions !== '' && (
        <Panel title={say.instructions}>
          <Markdown text={queue.instructions} />
        </Panel>
      )}
    </div>
  )
}

function Head({ queue: { queue_id, name, completed, items } }: { queue: Detail }) {
  const say = useWords(words)
  const language = useLanguage()
  return (
    <>
      <header className={layout.head}>
        <h1 className={styles.name}>{visible(name)}</h1>
        <Link to="/annotations/$queue_id" params={{ queue_id }}>
          {say.back}
        </Link>
      </header>
      <label className={layout.soft}>
        {say.completedOf(completed.toLocaleString(language), items.toLocaleString(language))}
        <progress className={styles.progress} value={completed} max={items} />
      </label>
    </>
  )
}

function Done({ claim, work }: { claim: Claim; work: Work }) {
  const say = useWords(words)
  return (
    <div role="status">
      <p>{say.done}</p>
      {claim.held > 0 && (
        <p>
          {say.held(claim.held)} <Button onClick={work.next}>{say.again}</Button>
        </p>
      )}
    </div>
  )
}

const forms = { pairwise: PairForm, rubric: RubricForm, edit: EditForm }

function Item({ item, claim, queue, work }: Omit<FormProps, 'draft'> & { claim: Claim }) {
  const say = useWords(words)
  const Form = forms[queue.kind]
  const messages = messagesIn(item.prompt)
  return (
    <article className={layout.sheet} aria-label={say.item(item.item)}>
      <p className={layout.facts}>
        <span>{say.item(item.item)}</span>
        <Lease until={claim.expires_at ?? ''} />
      </p>
      {item.prompt.length > 0 && (
        <section className={styles.response}>
          <h2>{say.prompt}</h2>
          {messages ? (
            <Talk messages={messages} />
          ) : (
            <Text text={JSON.stringify(item.prompt, null, 2)} isCode />
          )}
        </section>
      )}
      <Form {...{ item, queue, work }} draft={claim.draft} />
    </article>
  )
}

function Lease({ until }: { until: string }) {
  const say = useWords(words)
  const left = Date.parse(until) - useSeconds()
  return left > 0 ? <span>{say.left(clockOf(left))}</span> : <span role="status">{say.ended}</span>
}
