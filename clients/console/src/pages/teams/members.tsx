import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { TeamDetail, TeamMember, TeamRole } from '../../../../../schemas/teams.ts'
import { Button } from '../../design/button.tsx'
import { Select, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { list, memberAt, pathOf } from './paths.ts'
import { words } from './words.ts'

type Props = { team: TeamDetail; mayManage: boolean; isOwner: boolean }

const low: readonly TeamRole[] = ['member', 'viewer']
const all: readonly TeamRole[] = [...low, 'maintainer', 'owner']

export function Members({ team: { name }, mayManage, isOwner }: Props) {
  const say = useWords(words)
  const members = useQuery(reading<TeamMember[]>(`${pathOf(name)}/members`, { limit: 500 }))
  const { act, error } = useAct()
  const remove = ({ username }: TeamMember) =>
    act(async () => {
      await request('DELETE', memberAt(name, username))
      await reread(list)
    })
  const roles = isOwner ? all : low
  return (
    <Panel title={say.members}>
      <QueryTable
        of={members}
        none={null}
        caption={say.members}
        keyOf={one => one.username}
        columns={[
          { key: 'person', title: say.person, cell: one => one.username },
          { key: 'role', title: say.role, cell: one => say[one.role] },
          {
            key: 'by',
            title: say.by,
            cell: one => (one.source === 'provider' ? say.provider : say.people),
          },
          { key: 'since', title: say.since, cell: one => <Ago at={one.since} /> },
          {
            key: 'remove',
            title: '',
            cell: one =>
              mayManage &&
              roles.includes(one.role) && (
                <Button
                  kind="quiet"
                  aria-label={say.removeOf(one.username)}
                  onClick={() => void remove(one)}
                >
                  {say.remove}
                </Button>
              ),
          },
        ]}
      />
      <Failure error={error} />
      {mayManage && <SetMember team={name} roles={roles} />}
    </Panel>
  )
}

function SetMember({ team, roles }: { team: string; roles: readonly TeamRole[] }) {
  const say = useWords(words)
  const [role, setRole] = useState<TeamRole>('member')
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const username = String(given.get('username')).trim()
    await request('PUT', memberAt(team, username), { body: { role } })
    await reread(list)
  })
  return (
    <form className={styles.controls} onSubmit={onSubmit}>
      <TextField label={say.person} name="username" required maxLength={128} autoComplete="off" />
      <Select
        label={say.role}
        value={role}
        choices={roles.map(value => ({ value, text: say[value] }))}
        onChange={setRole}
      />
      <FormEnd error={error} isBusy={isBusy} text={say.set} />
    </form>
  )
}
