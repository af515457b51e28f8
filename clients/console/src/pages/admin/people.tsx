import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Static } from 'typebox'
import type { User, userWritten } from '../../../../../schemas/users.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Field, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Written = Static<typeof userWritten>

const path = '/api/admin/users'

export function Section() {
  const say = useWords(words)
  const people = useQuery(reading<User[]>(path, { limit: 500 }))
  const [secret, setSecret] = useState<{ username: string; password: string } | null>(null)
  const { send, error } = useChange(path)
  const keep = (written: Written | undefined) => {
    if (written?.password != null)
      setSecret({ username: written.username, password: written.password })
  }
  const change = async (username: string, body: object) =>
    keep(await send<Written>('PATCH', `${path}/${encodeURIComponent(username)}`, body))
  const removeFactor = (username: string) =>
    send('DELETE', `${path}/${encodeURIComponent(username)}/second-factor`)
  return (
    <>
      <Panel title={say.people}>
        <Failure error={error} />
        {secret && (
          <p role="status">
            {say.passwordOf(secret.username)} <Copyable text={secret.password} />
          </p>
        )}
        <Shown of={people}>
          {rows => <People rows={rows} change={change} removeFactor={removeFactor} />}
        </Shown>
      </Panel>
      <NewPerson onCreated={keep} />
    </>
  )
}

type PeopleProps = {
  rows: readonly User[]
  change: (username: string, body: object) => Promise<void>
  removeFactor: (username: string) => Promise<unknown>
}

function People({ rows, change, removeFactor }: PeopleProps) {
  const say = useWords(words)
  return (
    <Table
      caption={say.people}
      rows={rows}
      keyOf={({ username }) => username}
      columns={[
        {
          key: 'name',
          title: say.name,
          cell: one => (
            <>
              {one.username} {one.disabled && <Badge>{say.disabled}</Badge>}{' '}
              {one.second_factor && <Badge tone="good">{say.secondFactor}</Badge>}
            </>
          ),
        },
        { key: 'full', title: say.fullName, cell: one => one.display_name },
        {
          key: 'role',
          title: say.role,
          cell: one => (
            <select
              aria-label={`${say.role}: ${one.username}`}
              value={one.role}
              onChange={event => void change(one.username, { role: event.target.value })}
            >
              <option value="admin">{say.admin}</option>
              <option value="operator">{say.member}</option>
            </select>
          ),
        },
        {
          key: 'seen',
          title: say.lastSignIn,
          cell: one => one.last_login_at && <Ago at={one.last_login_at} />,
        },
        {
          key: 'acts',
          title: '',
          cell: one => (
            <>
              <Button
                kind="quiet"
                onClick={() => void change(one.username, { disabled: !one.disabled })}
              >
                {one.disabled ? say.enable : say.disable}
              </Button>
              <Button
                kind="quiet"
                unless={one.auth === 'oidc' && say.noPassword}
                onClick={() => void change(one.username, { password: null })}
              >
                {say.newPassword}
              </Button>
              {one.second_factor && (
                <Button kind="quiet" onClick={() => void removeFactor(one.username)}>
                  {say.removeSecondFactor}
                </Button>
              )}
            </>
          ),
        },
      ]}
    />
  )
}

function NewPerson({ onCreated }: { onCreated: (written: Written | undefined) => void }) {
  const say = useWords(words)
  const { send, error, isBusy } = useChange(path)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const given = new FormData(form)
    const written = await send<Written>('POST', path, {
      username: given.get('username'),
      role: given.get('role'),
      display_name: given.get('display_name') || null,
      email: given.get('email') || null,
    })
    if (written) form.reset()
    onCreated(written)
  }
  return (
    <Panel title={say.newPerson}>
      <form className={styles.form} onSubmit={event => void submit(event)}>
        <TextField label={say.name} name="username" required pattern="[a-z][a-z0-9_.\-]{0,62}" />
        <TextField label={say.fullName} name="display_name" />
        <TextField label={say.email} name="email" type="email" />
        <Field label={say.role}>
          {given => (
            <select {...given} name="role" defaultValue="operator">
              <option value="operator">{say.member}</option>
              <option value="admin">{say.admin}</option>
            </select>
          )}
        </Field>
        <FormEnd error={error} isBusy={isBusy} text={say.create} />
      </form>
    </Panel>
  )
}
