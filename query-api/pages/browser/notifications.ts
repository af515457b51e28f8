import { get, post } from './api.ts'
import { timeOf } from './page.ts'
import { follow } from './stream.ts'

type Entry = {
  notification_id: string
  level: string
  title: string
  body: string
  url: string | null
  created_at: string
  read_at: string | null
  count: number
}

const shownAtOnce = 10

/** A live count of unread notifications that opens the newest ones. */
export function notificationMark(): HTMLElement {
  const mark = document.createElement('details')
  mark.className = 'mark'
  const summary = document.createElement('summary')
  const list = document.createElement('ul')
  const readAll = document.createElement('button')
  readAll.type = 'button'
  readAll.textContent = 'Mark all read'
  const panel = document.createElement('div')
  panel.append(list, readAll)
  mark.append(summary, panel)

  const refresh = async () => {
    const { unread_notifications: unread } = await get<{ unread_notifications: number }>(
      '/api/auth/me',
    )
    const noun = unread === 1 ? 'notification' : 'notifications'
    summary.textContent = `${unread} unread ${noun}`
    mark.classList.toggle('some', unread > 0)
    readAll.hidden = unread === 0
    const entries = await get<Entry[]>(`/api/notifications?limit=${shownAtOnce}`)
    list.replaceChildren(...(entries.length === 0 ? [none()] : entries.map(item)))
  }
  const refreshQuietly = () => void refresh().catch(() => {})
  readAll.addEventListener('click', () => {
    void post('/api/notifications/read-all').then(refreshQuietly, refreshQuietly)
  })
  refreshQuietly()
  // The count is a convenience: the page already shows when the server is unreachable or the sign-in has ended.
  void follow('/api/stream?topics=notifications', {
    onEvent: refreshQuietly,
    onLive: isLive => isLive && refreshQuietly(),
  }).catch(() => mark.remove())
  return mark
}

function item({ level, title, body, url, created_at, read_at, count }: Entry): HTMLElement {
  const entry = document.createElement('li')
  entry.className = `${level}${read_at === null ? ' unread' : ''}`
  const head = document.createElement(url === null ? 'strong' : 'a')
  head.textContent = title + (count > 1 ? ` (×${count})` : '')
  if (head instanceof HTMLAnchorElement && url !== null) head.href = url
  const text = document.createElement('p')
  text.textContent = body
  entry.append(head, timeOf(created_at), text)
  return entry
}

function none(): HTMLElement {
  const entry = document.createElement('li')
  entry.textContent = 'Nothing yet.'
  return entry
}
