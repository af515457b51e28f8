import type { Api } from '../api/client.ts'
import { firstRows } from '../api/every-page.ts'
import { followStream } from '../api/streams.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { countOf, sayMore, showRows } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import type { Column } from '../terminal/table.ts'
import { oneLine } from '../terminal/width.ts'

type Entry = {
  notification_id: string
  kind: string
  level: string
  title: string
  body: string
  actor: string
  created_at: string
  read_at: string | null
  count: number
}

type Mute = { what: string; since: string }

type NotificationOptions = CommonOptions &
  Flags<'follow' | 'unread' | 'markRead' | 'muted'> & {
    limit: string
    mute?: string
    unmute?: string
  }

const path = '/api/notifications'
const streamPath = '/api/stream?topics=notifications'

export const describeNotifications = describe({
  text: 'notifications: ended jobs, changed quotas and roles, maintenance',
  options: {
    '-f, --follow': 'keep printing new ones as they arrive',
    '-u, --unread': 'only unread ones',
    '--mark-read': 'mark all of them read afterwards',
    '--mute <what>':
      'no longer be notified of a kind, run or project: kind:job_failed, run:ID, project:NAME',
    '--unmute <what>': 'be notified of it again',
    '--muted': 'list the mutes',
    '-l, --limit <count>': ['at most this many of the newest', '20'],
  },
})

export async function notifications(world: World, options: NotificationOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api } = session
  if (options.mute !== undefined) return change(session, 'mute', options.mute)
  if (options.unmute !== undefined) return change(session, 'unmute', options.unmute)
  if (options.muted) return listMuted(session)
  const limit = countOf(options.limit)
  if (options.follow && options.markRead)
    throw usageFailure('--follow and --mark-read cannot be combined')
  const unread = options.unread ? true : undefined
  const list = () => firstRows<Entry>(api, path, { limit, unread })
  if (options.follow) return follow(session, async () => (await list()).rows)
  const shown = { columns: columns(session.terminal.paint), none: 'No notifications.' }
  const { rows, isMore } = await list()
  showRows(session, rows, shown)
  if (isMore) sayMore(session, rows.length)
  if (options.markRead) await markRead(session, api)
  return exitCode.ok
}

async function change(session: Session, route: 'mute' | 'unmute', what: string): Promise<ExitCode> {
  await session.api.post(`${path}/${route}`, { what })
  if (!session.isJson) session.terminal.note(`${route === 'mute' ? 'Muted' : 'Unmuted'} ${what}`)
  return exitCode.ok
}

const mostMutes = 200

async function listMuted(session: Session): Promise<ExitCode> {
  const { rows } = await firstRows<Mute>(session.api, `${path}/mutes`, { limit: mostMutes })
  const columns: Column<Mute>[] = [
    { title: 'SINCE', cell: row => row.since },
    { title: 'MUTED', cell: row => row.what },
  ]
  showRows(session, rows, { columns, none: 'Nothing is muted.' })
  return exitCode.ok
}

async function markRead({ terminal, isJson }: Session, api: Api): Promise<void> {
  const { count } = await api.post<{ count: number }>(`${path}/read-all`, undefined)
  if (!isJson) terminal.note(`Marked ${count} read`)
}

const colours = { error: 'red', warn: 'yellow' } as const

const columns = (paint: Session['terminal']['paint']): Column<Entry>[] => [
  { title: 'WHEN', cell: row => row.created_at },
  {
    title: 'LEVEL',
    cell: row => row.level,
    paint: (text, { level }) =>
      level === 'error' || level === 'warn' ? paint(colours[level], text) : text,
  },
  { title: '', cell: row => (row.read_at === null ? 'new' : '') },
  { title: 'TITLE', cell: row => titleOfEntry(row), shrinks: true },
  { title: 'DETAIL', cell: row => oneLine(row.body), shrinks: true, drops: true },
]

const titleOfEntry = ({ title, count }: Entry) => oneLine(title) + (count > 1 ? ` (×${count})` : '')

/** Prints the existing notifications, oldest first, then each new one until Ctrl-C. */
async function follow(session: Session, list: () => Promise<Entry[]>): Promise<ExitCode> {
  const { api, terminal, isJson, process } = session
  const leaving = new AbortController()
  process.once('SIGINT', () => leaving.abort())
  const printed = new Map<string, number>()
  const print = (entry: Entry) => {
    if (printed.get(entry.notification_id) === entry.count) return
    printed.set(entry.notification_id, entry.count)
    terminal.data(isJson ? toJson(entry) : lineOf(entry))
  }
  const open = async (lastEventId: string | null, signal: AbortSignal) => {
    const headers = lastEventId === null ? {} : { 'last-event-id': lastEventId }
    const response = await api.open(streamPath, headers, signal)
    // Read after the stream is open, so that no notification is missed in between.
    if (lastEventId === null) for (const entry of (await list()).reverse()) print(entry)
    return response
  }
  const onGap = (reason: string | null) => {
    if (reason !== null) terminal.note(terminal.paintNote('dim', `(${reason}; reconnecting)`))
  }
  for await (const { event, data } of followStream({ open, signal: leaving.signal, onGap })) {
    const entry = event === 'alert' ? (JSON.parse(data) as Entry) : null
    // An entry is sent again when it is read somewhere else.
    if (entry?.read_at === null) print(entry)
  }
  return exitCode.ok
}

const lineOf = (entry: Entry): string =>
  `${entry.created_at}  ${entry.level.padEnd(5)}  ${titleOfEntry(entry)}${entry.body === '' ? '' : `: ${oneLine(entry.body)}`}`
