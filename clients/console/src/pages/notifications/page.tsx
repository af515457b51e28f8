import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Notification } from '../../../../../schemas/notifications.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Checkbox } from '../../design/field.tsx'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { readingPage, reread } from '../../session/api.ts'
import { basePath } from '../../session/base-path.ts'
import { request } from '../../session/session.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './page.module.css'

const words = wordsOf({
  title: ['Notifications', '通知'],
  unread: ['Unread only', '仅未读'],
  readAll: ['Mark all read', '全部标为已读'],
  read: ['Mark read', '标为已读'],
  none: ['Nothing has happened yet.', '还没有通知。'],
  noneUnread: ['Everything is read.', '全部已读。'],
  more: ['Older', '更早的'],
  by: ['by', '来自'],
})

const step = 50

export function Page() {
  const say = useWords(words)
  const { unread } = useSearch({ strict: false })
  const navigate = useNavigate()
  const [limit, setLimit] = useState(step)
  const [error, setError] = useState<unknown>(null)
  const onlyUnread = unread === '1'
  const feed = useQuery({
    ...readingPage<Notification>('/api/notifications', { limit, unread: onlyUnread || undefined }),
    placeholderData: before => before,
  })
  const send = (path: string) =>
    request('POST', path)
      .then(() => reread('/api/notifications', '/api/auth/me'))
      .catch(setError)
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{say.title}</h1>
        <Checkbox
          label={say.unread}
          checked={onlyUnread}
          onChange={event =>
            void navigate({
              to: '/notifications',
              search: event.target.checked ? { unread: '1' } : {},
            })
          }
        />
        <Button onClick={() => void send('/api/notifications/read-all')}>{say.readAll}</Button>
      </header>
      <Failure error={error} />
      <Shown of={feed}>
        {({ rows, total }) => (
          <>
            {rows.length === 0 && <Empty text={onlyUnread ? say.noneUnread : say.none} />}
            <ul className={styles.list}>
              {rows.map(entry => (
                <Entry
                  key={entry.notification_id}
                  entry={entry}
                  onRead={() => void send(`/api/notifications/${entry.notification_id}/read`)}
                />
              ))}
            </ul>
            {rows.length === limit && (total === null || total > limit) && limit < 500 && (
              <Button onClick={() => setLimit(limit + step)}>{say.more}</Button>
            )}
          </>
        )}
      </Shown>
    </div>
  )
}

const tones = { info: 'soft', warn: 'warning', error: 'error' } as const

function Entry({ entry, onRead }: { entry: Notification; onRead: () => void }) {
  const say = useWords(words)
  return (
    <li className={entry.read_at === null ? styles.unread : undefined}>
      <Badge state={tones[entry.level]} text={entry.kind.replaceAll('_', ' ')} />
      <div className={styles.text}>
        <strong>
          {entry.url === null ? entry.title : <a href={basePath + entry.url}>{entry.title}</a>}
          {entry.count > 1 && ` ×${entry.count}`}
        </strong>
        {entry.body !== '' && <p>{entry.body}</p>}
        <p className={styles.soft}>
          <Ago at={entry.created_at} /> {say.by} {entry.actor}
        </p>
      </div>
      {entry.read_at === null && (
        <Button kind="quiet" onClick={onRead}>
          {say.read}
        </Button>
      )}
    </li>
  )
}
