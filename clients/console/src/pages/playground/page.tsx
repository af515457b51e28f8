import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Select, TextArea, TextField } from '../../design/field.tsx'
import { Empty } from '../../design/notice.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { SampleChooser } from './samples.tsx'
import { Side, type Turn } from './side.tsx'
import { words } from './words.ts'

type Deployment = { deployment_id: string; name: string }
type Revision = { revision_id: string; number: number; state: string }

const noTurn: Turn = {
  ...{ nth: 0, prompts: [], sampling: { seed: 0, max_tokens: 256, temperature: 0.7 } },
}

/** Two models side by side, asked the same with the same seed. The models are in the address. */
export function Page() {
  const say = useWords(words)
  const navigate = useNavigate()
  const choices = useChoices()
  // Until somebody chooses, the first one that responds.
  const { revisions = choices[0]?.value ?? '', prompt = '' } = useSearch({ strict: false })
  const [left = '', right = ''] = revisions.split(',')
  const choose = (next: readonly string[]) =>
    void navigate({ to: '/playground', search: { revisions: next.join(',') } })
  const [turn, setTurn] = useState<Turn>(noTurn)
  const [busy, setBusy] = useState<Readonly<Record<string, boolean>>>({})
  const sides = [...new Set([left, right])].filter(id => id !== '')
  const nameOf = (id: string) => choices.find(({ value }) => value === id)?.text ?? id
  const isBusy = sides.some(id => busy[id])
  if (choices.length === 0 && sides.length === 0)
    return (
      <div className={styles.page}>
        <h1>{say.title}</h1>
        <Empty text={say.none} command="forge deploy ls" />
      </div>
    )
  const none = { value: '', text: say.nothing }
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <div className={styles.fields}>
        <Select
          label={say.left}
          value={left}
          choices={[none, ...choices]}
          onChange={next => choose([next, right])}
        />
        <Select
          label={say.right}
          value={right}
          choices={[none, ...choices]}
          onChange={next => choose([left, next])}
        />
      </div>
      <div className={styles.sides}>
        {sides.map(id => (
          <Side
            key={id}
            name={nameOf(id)}
            revisionId={id}
            turn={turn}
            onBusy={next => setBusy(now => ({ ...now, [id]: next }))}
          />
        ))}
      </div>
      <Prompt
        first={prompt}
        isBusy={isBusy}
        hasModel={sides.length > 0}
        onSend={(text, sampling) =>
          setTurn({ nth: turn.nth + 1, prompts: [...turn.prompts, text], sampling })
        }
        onClear={() => setTurn(noTurn)}
      />
    </div>
  )
}

type PromptProps = {
  first: string
  isBusy: boolean
  hasModel: boolean
  onSend: (text: string, sampling: Turn['sampling']) => void
  onClear: () => void
}

function Prompt({ first, isBusy, hasModel, onSend, onClear }: PromptProps) {
  const say = useWords(words)
  const [text, setText] = useState(first)
  const [isChoosing, setChoosing] = useState(false)
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy || !hasModel) return
    const given = new FormData(event.currentTarget)
    const of = (name: string) => Number(given.get(name))
    onSend(text, {
      ...{ seed: of('seed'), max_tokens: of('max_tokens'), temperature: of('temperature') },
    })
    setText('')
  }
  const { seed, max_tokens, temperature } = noTurn.sampling
  return (
    <>
      <form className={styles.form} onSubmit={send}>
        <TextArea
          label={say.prompt}
          hint={say.promptHint}
          rows={4}
          required
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit()
          }}
        />
        <div className={styles.fields}>
          <TextField
            label={say.seed}
            name="seed"
            type="number"
            min={0}
            defaultValue={seed}
            required
          />
          <TextField
            label={say.maxTokens}
            name="max_tokens"
            type="number"
            min={1}
            defaultValue={max_tokens}
            required
          />
          <TextField
            label={say.temperature}
            name="temperature"
            type="number"
            min={0}
            max={5}
            step="any"
            defaultValue={temperature}
            required
          />
        </div>
        <p className={styles.row}>
          <Button kind="main" type="submit" busy={isBusy} unless={!hasModel && say.none}>
            {say.send}
          </Button>
          <Button onClick={() => setChoosing(true)}>{say.fromSample}</Button>
          <Button kind="quiet" onClick={onClear}>
            {say.clear}
          </Button>
        </p>
      </form>
      {isChoosing && (
        <SampleChooser
          onChoose={prompt => {
            setText(prompt)
            setChoosing(false)
          }}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  )
}

const maxDeployments = 50

/** The revisions that respond now. */
function useChoices() {
  const say = useWords(words)
  const deployments = useQuery(reading<Deployment[]>('/api/deployments', { limit: maxDeployments }))
  const all = deployments.data ?? []
  const revisions = useQueries({
    queries: all.map(({ deployment_id }) =>
      reading<Revision[]>(`/api/deployments/${deployment_id}/revisions`, { limit: 10 }),
    ),
  })
  return all.flatMap(({ name }, nth) =>
    (revisions[nth]?.data ?? [])
      .filter(({ state }) => state === 'ready')
      .map(({ revision_id, number }) => ({ value: revision_id, text: say.of(name, number) })),
  )
}
