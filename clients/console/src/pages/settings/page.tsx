import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import type { Static } from 'typebox'
import type { session as sessionSchema } from '../../../../../schemas/sessions.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { chooseTheme, theme, themes } from '../../design/theme.ts'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { type Me, request, signOut } from '../../session/session.ts'
import { ChangePassword } from '../../shell/change-password.tsx'
import { chooseLanguage, languages, useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { Passkeys } from './passkeys.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Secrets } from './secrets.tsx'
import { words } from './words.ts'

type OwnSession = Static<typeof sessionSchema>

export function Page() {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <Shown of={me}>
        {who => (
          <p className={styles.soft}>
            {who.username} · {who.role_label} {who.email && `· ${who.email}`}
          </p>
        )}
      </Shown>
      <Look />
      <Password />
      <SecondFactor />
      <Passkeys />
      <Secrets />
      <Sessions />
    </div>
  )
}

function Look() {
  const say = useWords(words)
  const language = useLanguage()
  const chosen = useSyncExternalStore(theme.subscribe, theme.get)
  return (
    <Panel title={say.look}>
      <div className={styles.row}>
        <Select
          label={say.language}
          value={language}
          choices={languages.map(value => ({ value, text: value === 'en' ? 'English' : '中文' }))}
          onChange={chooseLanguage}
        />
        <Select
          label={say.theme}
          value={chosen}
          choices={themes.map(value => ({ value, text: say[value] }))}
          onChange={chooseTheme}
        />
      </div>
    </Panel>
  )
}

function Password() {
  const say = useWords(words)
  return (
    <Panel title={say.password}>
      <ChangePassword onDone={() => reread('/api/auth/sessions')} />
    </Panel>
  )
}

function Sessions() {
  const say = useWords(words)
  const sessions = useQuery(reading<OwnSession[]>('/api/auth/sessions'))
  const [error, setError] = useState<unknown>(null)
  const endOne = (sid: string) => request('DELETE', `/api/auth/sessions/${encodeURIComponent(sid)}`)
  const end = (sid: string) =>
    endOne(sid)
      .then(() => reread('/api/auth/sessions'))
      .catch(setError)
  // The current ones: the list below may be missing or outdated.
  const endAll = async () => {
    try {
      const all = await request<OwnSession[]>('GET', '/api/auth/sessions')
      for (const { sid, current } of all) if (!current) await endOne(sid)
      await signOut()
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <Panel
      title={say.sessions}
      actions={<Button onClick={() => void endAll()}>{say.endAll}</Button>}
    >
      <Failure error={error} />
      <QueryTable
        of={sessions}
        caption={say.sessions}
        keyOf={({ sid }) => sid}
        columns={[
          {
            key: 'via',
            title: say.via,
            cell: one => (
              <>
                {one.via} {one.current && <Badge tone="good">{say.this}</Badge>}
              </>
            ),
          },
          { key: 'agent', title: say.agent, cell: one => one.user_agent ?? '' },
          { key: 'began', title: say.began, cell: one => <Ago at={one.created_at} /> },
          {
            key: 'used',
            title: say.used,
            cell: one => one.last_used_at && <Ago at={one.last_used_at} />,
          },
          {
            key: 'end',
            title: '',
            cell: one => (
              <Button kind="quiet" onClick={() => void (one.current ? signOut() : end(one.sid))}>
                {say.end}
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  )
}
