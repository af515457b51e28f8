import { useState } from 'react'
import type { TeamDetail } from '../../../../../schemas/teams.ts'
import { Button } from '../../design/button.tsx'
import { Select, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { groupAt, list } from './paths.ts'
import { words } from './words.ts'

type Role = TeamDetail['groups'][number]['role']

/** Groups of the identity provider whose people are members. */
export function Groups({ team: { name, groups }, maySet }: { team: TeamDetail; maySet: boolean }) {
  const say = useWords(words)
  const { act, error } = useAct()
  const remove = (group: string) =>
    act(async () => {
      await request('DELETE', groupAt(name, group))
      await reread(list)
    })
  return (
    <Panel title={say.groups}>
      {groups.length === 0 ? (
        <p className={styles.soft}>{say.noGroups}</p>
      ) : (
        <Table
          caption={say.groups}
          rows={groups}
          keyOf={one => one.group}
          columns={[
            { key: 'group', title: say.group, cell: one => visible(one.group) },
            { key: 'role', title: say.role, cell: one => say[one.role] },
            {
              key: 'remove',
              title: '',
              cell: one =>
                maySet && (
                  <Button
                    kind="quiet"
                    aria-label={say.removeOf(one.group)}
                    onClick={() => void remove(one.group)}
                  >
                    {say.remove}
                  </Button>
                ),
            },
          ]}
        />
      )}
      <Failure error={error} />
      {maySet && <MapGroup team={name} />}
    </Panel>
  )
}

function MapGroup({ team }: { team: string }) {
  const say = useWords(words)
  const [role, setRole] = useState<Role>('member')
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    await request('PUT', groupAt(team, String(given.get('group')).trim()), { body: { role } })
    await reread(list)
  })
  return (
    <form className={styles.controls} onSubmit={onSubmit}>
      <TextField label={say.group} hint={say.groupHint} name="group" required maxLength={256} />
      <Select
        label={say.role}
        value={role}
        choices={(['member', 'viewer', 'maintainer'] as const).map(value => ({
          value,
          text: say[value],
        }))}
        onChange={setRole}
      />
      <FormEnd error={error} isBusy={isBusy} text={say.mapGroup} />
    </form>
  )
}
