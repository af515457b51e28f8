import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Notification } from '../../../../../schemas/notifications.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { readingPage, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { Feed } from './feed.tsx'
import styles from './page.module.css'
import { words } from './words.ts'

const shown = 50

/** The newest notifications, next to the page; it closes when one of them leads to another. */
export function Drawer({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const { pathname } = useLocation()
  const first = useRef(pathname)
  const [error, setError] = useState<unknown>(null)
  const feed = useQuery(readingPage<Notification>('/api/notifications', { limit: shown }))
  const readAll = () =>
    request('POST', '/api/notifications/read-all')
      .then(() => reread('/api/notifications', '/api/auth/me'))
      .catch(setError)
  useEffect(() => {
    if (pathname !== first.current) onClose()
  }, [pathname, onClose])
  return (
    <Dialog title={say.title} shape="side" onClose={onClose}>
      <div className={styles.head}>
        <Button onClick={() => void readAll()}>{say.readAll}</Button>
        <Link to="/notifications" onClick={onClose}>
          {say.all}
        </Link>
      </div>
      <Failure error={error} />
      <Shown of={feed}>{({ rows }) => <Feed rows={rows} none={<Empty text={say.none} />} />}</Shown>
    </Dialog>
  )
}
