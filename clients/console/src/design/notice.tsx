import CircleAlert from 'lucide-react/icons/circle-alert'
import CloudOff from 'lucide-react/icons/cloud-off'
import Inbox from 'lucide-react/icons/inbox'
import type { ReactNode } from 'react'
import { ApiFailure, isPassing, SignedOut, Unreachable } from '../session/failure.ts'
import { visible } from '../words/visible.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import { Copyable } from './copy.tsx'
import { Icon } from './icon.tsx'
import styles from './notice.module.css'

const words = wordsOf({
  request: [(id: string) => `Request ${id}`, (id: string) => `请求 ${id}`],
  again: ['Try again', '重试'],
  loading: ['Loading …', '加载中…'],
  unreachable: ['The server does not respond', '服务器没有响应'],
})

type EmptyProps = { text: string; command?: string; children?: ReactNode }

/** Stands in place of missing content, with a command to copy or a link that would create it. */
export const Empty = ({ text, command, children }: EmptyProps) => (
  <div className={styles.empty}>
    <Icon of={Inbox} size={20} />
    <p>{text}</p>
    {command !== undefined && <Copyable text={command} />}
    {children}
  </div>
)

/** It appears only after a moment: what arrives at once should not flash. */
export const Loading = () => {
  const say = useWords(words)
  return (
    <p className={styles.loading} role="status">
      {say.loading}
    </p>
  )
}

/** A refusal in the server's words, with the id under which its log knows the request. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const say = useWords(words)
  if (error === null || error === undefined || error instanceof SignedOut) return null
  return (
    <div className={styles.failure} role="alert">
      <Icon of={CircleAlert} />
      <div>
        <p>{error instanceof Unreachable ? say.unreachable : messageOf(error)}</p>
        {error instanceof ApiFailure && error.hint !== null && <p>{visible(error.hint)}</p>}
        {error instanceof ApiFailure && error.requestId !== null && (
          <p className={styles.id}>{say.request(error.requestId)}</p>
        )}
        {onRetry && !isPassing(error) && <Button onClick={onRetry}>{say.again}</Button>}
      </div>
    </div>
  )
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A strip above content that is no longer kept up to date, and why. */
export const Stale = ({ children }: { children: ReactNode }) => (
  <p className={styles.stale} role="alert">
    <Icon of={CloudOff} />
    <span>{children}</span>
  </p>
)

type Read<T> = { data: T | undefined; error: unknown; refetch: () => unknown }

/** Shows the result of a read, its failure, or that it is loading. */
export function Shown<T>({ of, children }: { of: Read<T>; children: (data: T) => ReactNode }) {
  if (of.data !== undefined)
    return (
      <>
        {of.error !== null && <Failure error={of.error} onRetry={of.refetch} />}
        {children(of.data)}
      </>
    )
  return of.error ? <Failure error={of.error} onRetry={of.refetch} /> : <Loading />
}

/** Shows rows that were read, or `none` where there are none. */
export const ShownRows = <Row,>({
  of,
  none,
  children,
}: {
  of: Read<readonly Row[]>
  none: ReactNode
  children: (rows: readonly Row[]) => ReactNode
}) => <Shown of={of}>{rows => (rows.length === 0 ? none : children(rows))}</Shown>
