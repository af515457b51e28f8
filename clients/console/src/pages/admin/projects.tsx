import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Static } from 'typebox'
import type { project } from '../../../../../schemas/projects.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Project = Static<typeof project>
type Member = { username: string; role: string }

const path = '/api/projects'
const pathOfProject = (name: string) => `${path}/${encodeURIComponent(name)}`

export function Section() {
  const say = useWords(words)
  const projects = useQuery(reading<Project[]>(path, { limit: 500 }))
  const { send, error } = useChange(path)
  const [asked, setAsked] = useState<string | null>(null)
  return (
    <Panel title={say.projects}>
      <Failure error={error} />
      <QueryTable
        of={projects}
        caption={say.projects}
        keyOf={({ name }) => name}
        columns={[
          { key: 'name', title: say.name, cell: one => one.name },
          { key: 'owner', title: say.owner, cell: one => one.owner },
          { key: 'runs', title: say.runs, isNumber: true, cell: one => one.runs },
          {
            key: 'visibility',
            title: say.visibility,
            cell: one => (
              <select
                aria-label={`${say.visibility}: ${one.name}`}
                value={one.visibility}
                onChange={event =>
                  void send('PATCH', pathOfProject(one.name), { visibility: event.target.value })
                }
              >
                <option value="private">{say.private}</option>
                <option value="internal">{say.internal}</option>
              </select>
            ),
          },
          {
            key: 'members',
            title: '',
            cell: one => (
              <Button kind="quiet" onClick={() => setAsked(one.name)}>
                {say.members}
              </Button>
            ),
          },
        ]}
      />
      {asked !== null && <Members name={asked} onClose={() => setAsked(null)} />}
    </Panel>
  )
}

const roles = ['viewer', 'member', 'maintainer'] as const

function Members({ name, onClose }: { name: string; onClose: () => void }) {
  const say = useWords(words)
  const own = `${pathOfProject(name)}/members`
  const members = useQuery(reading<Member[]>(own))
  const { send, error } = useChange(path)
  const set = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const username = encodeURIComponent(String(given.get('username')))
    void send('PUT', `${own}/${username}`, { role: given.get('role') })
  }
  return (
    <Dialog title={say.membersOf(name)} onClose={onClose}>
      <Failure error={error} />
      <QueryTable
        of={members}
        caption={say.membersOf(name)}
        keyOf={({ username }) => username}
        columns={[
          { key: 'name', title: say.name, cell: one => one.username },
          { key: 'role', title: say.role, cell: one => one.role },
          {
            key: 'remove',
            title: '',
            cell: one =>
              one.role !== 'owner' && (
                <Button
                  kind="quiet"
                  onClick={() => void send('DELETE', `${own}/${encodeURIComponent(one.username)}`)}
                >
                  {say.remove}
                </Button>
              ),
          },
        ]}
      />
      <form className={styles.form} onSubmit={set}>
        <TextField label={say.name} name="username" required />
        <label>
          {say.role}{' '}
          <select name="role">
            {roles.map(role => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </label>
        <Button type="submit" kind="main">
          {say.add}
        </Button>
      </form>
    </Dialog>
  )
}
