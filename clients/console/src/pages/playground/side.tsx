import { useEffect, useRef, useState } from 'react'
import type { PlaygroundSession } from '../../../../../schemas/playground.ts'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { useSeconds } from '../../design/time.tsx'
import { lengthOf, shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { ask, type Reply, type Sampling } from './chat.ts'
import { messagesFor, type Replies } from './conversation.ts'
import styles from './page.module.css'
import { useSession } from './use-session.ts'
import { words } from './words.ts'

/** All prompts that both sides are asked; `nth` is the number of the last one, from 1, and 0 before the first. */
export type Turn = { nth: number; prompts: readonly string[]; sampling: Sampling }

type Props = { name: string; revisionId: string; turn: Turn; onBusy: (isBusy: boolean) => void }

/** One model: its session, and its part of the conversation. */
export function Side({ name, revisionId, turn, onBusy }: Props) {
  const say = useWords(words)
  const { session, error } = useSession(revisionId)
  const { replies, failure } = useReplies(session, turn, onBusy)
  return (
    <Panel title={name} actions={session && <Expiry session={session} />}>
      <Failure error={error ?? failure} />
      {session?.state === 'starting' && <p role="status">{say.starting}</p>}
      {session && ['expired', 'closed', 'failed'].includes(session.state) && (
        <p role="status">{session.state_reason ?? say.over}</p>
      )}
      <ol className={styles.talk} aria-label={say.reply(name)}>
        {[...turn.prompts.entries()].map(([place, prompt]) => {
          const reply = replies.get(place + 1)
          const isOver = place + 1 < turn.nth || failure !== null
          return (
            <li key={place}>
              <p className={styles.prompt}>{visible(prompt)}</p>
              <p className={styles.reply}>
                {reply ? visible(reply.text) : isOver ? say.noReply : '…'}
              </p>
              <Speed of={reply} />
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}

function Speed({ of: reply }: { of: Reply | undefined }) {
  const say = useWords(words)
  if (reply?.ttftMs == null) return null
  const rate = reply.tokensPerS === null ? '–' : shortNumber(reply.tokensPerS, 3)
  return <p className={styles.soft}>{say.figures(String(Math.round(reply.ttftMs)), rate)}</p>
}

function Expiry({ session }: { session: PlaygroundSession }) {
  const say = useWords(words)
  const left = Math.max(0, (Date.parse(session.expires_at) - useSeconds()) / 1000)
  return (
    <span className={styles.row}>
      <State state={session.state} />
      {['starting', 'ready'].includes(session.state) && (
        <span className={styles.soft} role="timer">
          {say.expires(lengthOf(left))}
        </span>
      )}
    </span>
  )
}

/** Asks as soon as both the turn and the engine are there; the replies so far are part of the next question. */
function useReplies(
  session: PlaygroundSession | null,
  { nth, prompts, sampling }: Turn,
  onBusy: (isBusy: boolean) => void,
) {
  const [replies, setReplies] = useState<Replies>(new Map())
  const [failure, setFailure] = useState<unknown>(null)
  const isReady = session?.state === 'ready'
  const url = session?.base_url ?? ''
  const model = session?.served_names[0] ?? 'default'
  // A turn is asked once, when its number changes, with all that is known then.
  const latest = useRef({ prompts, sampling, replies, url, model, onBusy })
  latest.current = { prompts, sampling, replies, url, model, onBusy }
  useEffect(() => {
    if (nth === 0) {
      setReplies(new Map())
      setFailure(null)
    }
    if (nth === 0 || !isReady) return
    const { prompts, sampling, replies, url, model, onBusy } = latest.current
    const stop = new AbortController()
    const messages = messagesFor(nth, prompts, replies)
    setFailure(null)
    onBusy(true)
    ask(url, { ...sampling, model, messages, signal: stop.signal }, reply => {
      if (!stop.signal.aborted) setReplies(now => new Map(now).set(nth, reply))
    })
      .catch(error => !stop.signal.aborted && setFailure(error))
      .finally(() => onBusy(false))
    return () => stop.abort()
  }, [nth, isReady])
  return { replies, failure }
}
