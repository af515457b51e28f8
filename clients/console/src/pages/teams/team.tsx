import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { TeamDetail } from '../../../../../schemas/teams.ts'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import { reading, reread } from '../../session/api.ts'
import { type Me, request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { Groups } from './groups.tsx'
import { Members } from './members.tsx'
import styles from './page.module.css'
import { list, memberAt, pathOf } from './paths.ts'
import { Pool } from './pool.tsx'
import { Projects } from './projects.tsx'
import { words } from './words.ts'

/** A team: its pool, its projects and its people. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  const found = useQuery({ ...reading<TeamDetail>(pathOf(name)), refetchInterval: 10_000 })
  return <ShownPage of={found}>{team => <Found team={team} />}</ShownPage>
}

function Found({ team }: { team: TeamDetail }) {
  const say = useWords(words)
  const me = useQuery(reading<Me>('/api/auth/me'))
  const [opened, setOpened] = useState<'leave' | 'delete' | null>(null)
  const isAdmin = me.data?.role === 'admin'
  const isOwner = isAdmin || team.my_role === 'owner'
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{team.name}</h1>
        <div className={styles.row}>
          {team.my_role !== null && <Button onClick={() => setOpened('leave')}>{say.leave}</Button>}
          {isOwner && <Button onClick={() => setOpened('delete')}>{say.delete}</Button>}
        </div>
      </header>
      {team.description !== '' && <p className={styles.soft}>{visible(team.description)}</p>}
      <Pool team={team} maySet={isAdmin} />
      <Projects team={team} isOwner={isOwner} mayBring={isOwner || team.my_role === 'maintainer'} />
      <Members team={team} mayManage={isOwner || team.my_role === 'maintainer'} isOwner={isOwner} />
      {(isAdmin || team.groups.length > 0) && <Groups team={team} maySet={isAdmin} />}
      {opened === 'leave' && me.data && (
        <End
          title={say.leaveOf(team.name)}
          text={say.leave}
          about={say.handsOver}
          path={memberAt(team.name, me.data.username)}
          onClose={() => setOpened(null)}
        />
      )}
      {opened === 'delete' && (
        <End
          title={say.deleteOf(team.name)}
          text={say.delete}
          about={say.deletes}
          path={pathOf(team.name)}
          onClose={() => setOpened(null)}
        />
      )}
    </div>
  )
}

type Props = { title: string; text: string; about: string; path: string; onClose: () => void }

/** Afterwards the page may be gone for this person. */
function End({ title, text, about, path, onClose }: Props) {
  const navigate = useNavigate()
  const { act, error, isBusy } = useAct()
  const end = () =>
    act(async () => {
      await request('DELETE', path)
      onClose()
      await navigate({ to: '/teams' })
      await reread(list)
    })
  return (
    <Ask
      title={title}
      text={text}
      isDangerous
      busy={isBusy}
      error={error}
      onYes={() => void end()}
      onClose={onClose}
    >
      <p>{about}</p>
    </Ask>
  )
}
