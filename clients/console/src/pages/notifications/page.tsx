import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Notification } from '../../../../../schemas/notifications.ts'
import { Button } from '../../design/button.tsx'
import { Checkbox } from '../../design/field.tsx'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { readingPage, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { Feed } from './feed.tsx'
import styles from './page.module.css'
import { words } from './words.ts'

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
  const readAll = () =>
    request('POST', '/api/notifications/read-all')
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
        <Button onClick={() => void readAll()}>{say.readAll}</Button>
      </header>
      <Failure error={error} />
      <Shown of={feed}>
        {({ rows, total }) => (
          <>
            <Feed rows={rows} none={<Empty text={onlyUnread ? say.noneUnread : say.none} />} />
            {rows.length === limit && (total === null || total > limit) && limit < 500 && (
              <Button onClick={() => setLimit(limit + step)}>{say.more}</Button>
            )}
          </>
        )}
      </Shown>
    </div>
  )
}
