import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Select, TextField } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useWords } from '../../words/words.ts'
import { type Detail, pathOf } from './paths.ts'
import { words } from './words.ts'

type Level = 'see' | 'use'

/** Who else sees or uses a dataset. */
export function Grants({ dataset }: { dataset: Detail }) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const at = (username: string) => `${pathOf(dataset)}/grants/${encodeURIComponent(username)}`
  const grant = (username: string, level: Level) =>
    act(async () => {
      await request('PUT', at(username), { body: { see: true, use: level === 'use' } })
      await reread(pathOf(dataset))
    })
  const withdraw = (username: string) =>
    act(async () => {
      await request('DELETE', at(username))
      await reread(pathOf(dataset))
    })
  return (
    <Panel title={say.grants}>
      {dataset.grants.length === 0 ? (
        <p className={layout.soft}>{say.noGrants}</p>
      ) : (
        <Table
          caption={say.grants}
          rows={dataset.grants}
          keyOf={one => one.username}
          columns={[
            { key: 'person', title: say.person, cell: one => one.username },
            {
              key: 'access',
              title: say.granted,
              cell: one => (one.use ? say.seeAndUse : say.seeOnly),
            },
            { key: 'by', title: say.by, cell: one => one.granted_by },
            { key: 'at', title: say.grantedAt, cell: one => <Ago at={one.granted_at} /> },
            {
              key: 'withdraw',
              title: '',
              cell: ({ username }) => (
                <Button
                  kind="quiet"
                  isDangerous
                  busy={isBusy}
                  aria-label={`${say.withdraw}: ${username}`}
                  onClick={() => void withdraw(username)}
                >
                  {say.withdraw}
                </Button>
              ),
            },
          ]}
        />
      )}
      <NewGrant isBusy={isBusy} onGrant={grant} />
      <Failure error={error} />
    </Panel>
  )
}

type NewProps = { isBusy: boolean; onGrant: (username: string, level: Level) => Promise<void> }

/** Granting again replaces what the person had. */
function NewGrant({ isBusy, onGrant }: NewProps) {
  const say = useWords(words)
  const [username, setUsername] = useState('')
  const [level, setLevel] = useState<Level>('use')
  return (
    <form
      className={layout.controls}
      onSubmit={event => {
        event.preventDefault()
        void onGrant(username.trim(), level)
      }}
    >
      <TextField
        label={say.person}
        required
        maxLength={128}
        autoComplete="off"
        value={username}
        onChange={event => setUsername(event.target.value)}
      />
      <Select
        label={say.granted}
        value={level}
        choices={[
          { value: 'use', text: say.seeAndUse },
          { value: 'see', text: say.seeOnly },
        ]}
        onChange={setLevel}
      />
      <Button type="submit" busy={isBusy}>
        {say.grant}
      </Button>
    </form>
  )
}
