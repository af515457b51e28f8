import { useQuery } from '@tanstack/react-query'
import BellOff from 'lucide-react/icons/bell-off'
import { type ReactNode, useState } from 'react'
import { isMuted, mutableOf } from '../../../../../schemas/mutes.ts'
import type { Notification } from '../../../../../schemas/notifications.ts'
import { Badge, type Tone } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { Menu, MenuItem } from '../../design/menu.tsx'
import { Failure } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reread } from '../../session/api.ts'
import { basePath } from '../../session/base-path.ts'
import { request } from '../../session/session.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './feed.module.css'
import { type Group, groupsOf } from './groups.ts'
import { mute, readingMutes, unmute } from './muted.ts'
import { kindText, words } from './words.ts'

/** The entries that are not muted, one line for each kind and run. */
export function Feed({ rows, none }: { rows: readonly Notification[]; none: ReactNode }) {
  const [error, setError] = useState<unknown>(null)
  const mutes = useQuery(readingMutes)
  const silenced = (mutes.data ?? []).map(({ what }) => what)
  const act = (done: Promise<void>) => {
    setError(null)
    done.catch(setError)
  }
  const groups = groupsOf(rows.filter(one => !isMuted(one, silenced)))
  const markRead = ({ entries }: Group) =>
    Promise.all(
      entries
        .filter(({ read_at }) => read_at === null)
        .map(one => request('POST', `/api/notifications/${one.notification_id}/read`)),
    )
      .then(() => reread('/api/notifications', '/api/auth/me'))
      .catch(setError)
  return (
    <>
      <Failure error={error ?? mutes.error} />
      {groups.length === 0 && none}
      <ul className={styles.list}>
        {groups.map(group => (
          <Entry
            key={group.key}
            group={group}
            onRead={() => void markRead(group)}
            onMute={what => act(mute(what))}
          />
        ))}
      </ul>
      <Silenced what={silenced} onUnmute={what => act(unmute(what))} />
    </>
  )
}

const tones: Readonly<Record<Notification['level'], Tone>> = {
  info: 'soft',
  warn: 'warn',
  error: 'bad',
}

type EntryProps = { group: Group; onRead: () => void; onMute: (what: string) => void }

function Entry({ group, onRead, onMute }: EntryProps) {
  const say = useWords(words)
  const language = useLanguage()
  const { newest, diagnosis, count, isUnread } = group
  const body = diagnosis ?? newest
  return (
    <li className={isUnread ? styles.unread : undefined}>
      <div className={styles.line}>
        <Badge tone={tones[newest.level]}>{kindText(newest.kind, language)}</Badge>
        <span className={styles.soft}>
          <Ago at={body.created_at} /> {say.by} {newest.actor}
        </span>
        <span className={styles.acts}>
          {isUnread && (
            <Button kind="quiet" onClick={onRead}>
              {say.read}
            </Button>
          )}
          <Mute entry={newest} onMute={onMute} />
        </span>
      </div>
      <strong>
        {newest.url === null ? (
          visible(newest.title)
        ) : (
          <a href={basePath + newest.url}>{visible(newest.title)}</a>
        )}
        {count > 1 && ` ×${count}`}
      </strong>
      {diagnosis !== null && <p>{visible(diagnosis.title)}</p>}
      {body.body !== '' && <p>{visible(body.body)}</p>}
    </li>
  )
}

type MuteProps = { entry: Notification; onMute: (what: string) => void }

function Mute({ entry, onMute }: MuteProps) {
  const say = useWords(words)
  const language = useLanguage()
  const { kind, run, project } = mutableOf(entry)
  return (
    <Menu label={say.mute(entry.title)} className={styles.mute} shown={<Icon of={BellOff} />}>
      <MenuItem onSelect={() => onMute(kind)}>
        {say.muteKind(kindText(entry.kind, language))}
      </MenuItem>
      {run !== undefined && <MenuItem onSelect={() => onMute(run)}>{say.muteRun}</MenuItem>}
      {project !== undefined && (
        <MenuItem onSelect={() => onMute(project)}>{say.muteProject(nameOf(project))}</MenuItem>
      )}
    </Menu>
  )
}

const nameOf = (what: string): string => what.slice(what.indexOf(':') + 1)

type SilencedProps = { what: readonly string[]; onUnmute: (what: string) => void }

function Silenced({ what, onUnmute }: SilencedProps) {
  const say = useWords(words)
  const language = useLanguage()
  if (what.length === 0) return null
  const shown = (one: string) =>
    one.startsWith('kind:') ? kindText(nameOf(one), language) : nameOf(one)
  return (
    <details className={styles.soft}>
      <summary>{say.muted(what.length)}</summary>
      {what.map(one => (
        <Button key={one} kind="quiet" onClick={() => onUnmute(one)}>
          {say.unmute(shown(one))}
        </Button>
      ))}
    </details>
  )
}
