import { useSyncExternalStore } from 'react'
import { Stale } from '../design/notice.tsx'
import { liveness } from '../live/hub.ts'
import { reach } from '../session/session.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import styles from './marks.module.css'

const words = wordsOf({
  live: ['Live', '实时'],
  connecting: ['Connecting', '连接中'],
  reconnecting: [
    (at: string) => `Reconnecting, stale since ${at}`,
    (at: string) => `正在重连，自 ${at} 起未更新`,
  ],
  silent: ['The server does not respond', '服务器没有响应'],
  unready: ['The server is not ready', '服务器尚未就绪'],
  away: [
    (at: string) => `since ${at}; retrying automatically`,
    (at: string) => `自 ${at} 起；会自动重试`,
  ],
})

/** Whether the screen still updates automatically. */
export function LiveMark() {
  const say = useWords(words)
  const language = useLanguage()
  const now = useSyncExternalStore(liveness.subscribe, liveness.get)
  const { ok } = useSyncExternalStore(reach.subscribe, reach.get)
  // A stream may be silent for a while before it counts as dead; until then the notice about the silent server suffices.
  if (now.state === 'idle' || (now.state === 'live' && !ok)) return null
  const text =
    now.state === 'reconnecting'
      ? say.reconnecting(new Date(now.since).toLocaleTimeString(language))
      : say[now.state]
  return (
    <span className={`${styles.mark} ${styles[now.state]}`} role="status" data-live={now.state}>
      {text}
    </span>
  )
}

/** Shown above everything while the server cannot be reached or refuses everybody. */
export function ReachNotice() {
  const say = useWords(words)
  const language = useLanguage()
  const now = useSyncExternalStore(reach.subscribe, reach.get)
  if (now.ok) return null
  return (
    <Stale>
      <strong>{typeof now.why === 'string' ? say[now.why] : now.why.said}</strong>{' '}
      {say.away(new Date(now.since).toLocaleTimeString(language))}
    </Stale>
  )
}
